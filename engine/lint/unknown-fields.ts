/** Warns of fields that a mapping names and no sample of its endpoint has. */

import { unwrapExpression } from '../compile/expression/compile-expression.ts'
import { operatorNames } from '../compile/match/operators.ts'
import { anyStep } from '../compile/template/reference.ts'
import type { MappingEntry } from '../config/configuration.ts'
import { nearestName } from '../config/values/nearest.ts'
import { valueAt, writePath } from '../config/values/path.ts'
import { parametersOf } from '../config/values/path-overlap.ts'
import { isKnown, nearestField } from './fields/known-fields.ts'
import { mappingReferences, type NamedReference } from './fields/mapping-references.ts'
import type { ReadMapping } from './reachability.ts'
import { hasSample, type Sample } from './sample.ts'
import type { Warnings } from './warnings.ts'

/** The names that are known without any sample: those of `vars` and of the path's parameters. */
type Given = Readonly<Record<string, readonly string[]>>

/**
 * Fields are judged only where a sample matches the mapping, because samples of other events lack its fields. A field then
 * counts as known where any sample of the endpoint has it, because some requests may have it and others not. A field that the
 * author expects to be absent at times is reported only if another has nearly its name.
 */
export async function lintFields(
  { entry, clauses }: ReadMapping,
  samples: readonly Sample[],
  warnings: Warnings,
): Promise<void> {
  const scopeNames: Given = { vars: Object.keys(entry.value.vars ?? {}), params: parametersOf(clauses.path) }
  const payloads = samples.map(({ payload }) => payload)
  const isUnknown = ({ root, steps }: NamedReference) => root === 'payload' && !isKnown(payloads, steps)
  const references = mappingReferences(entry, clauses)
  const ofMatch = references.filter(({ field }) => field[0] === 'match')

  // No sample would match a clause that is misspelt.
  const misspelt = new Set(
    ofMatch.filter(isUnknown).map(({ field }) => field[1 + Number(field[1] === 'body')]),
  )
  const { match = {} } = entry.value
  const body = Object.entries(match.body ?? {}).filter(([key]) => !misspelt.has(key))
  const others = { ...match, body: body.length === 0 ? undefined : Object.fromEntries(body), when: undefined }
  const judgesMatch = await hasSample(others, samples)
  const judgesRest = judgesMatch && (await hasSample(match, samples))

  // A value of `vars` may have the name of the field that it is computed from.
  const computed = references.filter(
    ({ root, field }) => root === 'payload' && /^(match|vars|forEach)$/.test(String(field[0])),
  )
  const ownFields = new Set(computed.map(({ steps }) => steps[0]))
  const isOwn = ([first = '']: readonly string[]) => ownFields.has(first) || isKnown(payloads, [first])

  const reported = new Set<string>()
  for (const reference of references) {
    const isJudged = reference.field[0] === 'match' ? judgesMatch : judgesRest
    const forgotten = isOwn(reference.steps) ? undefined : forgottenRoot(reference, scopeNames)
    const problem = forgotten ?? problemOf(entry, reference, scopeNames, isJudged ? payloads : [])
    const key = JSON.stringify([reference.field, reference.root, reference.steps])
    if (problem === undefined && isJudged && !reported.has(key)) {
      reported.add(key)
      lintMisread(entry, reference, payloads, warnings)
    }
    if (problem === undefined || reported.has(key)) continue
    reported.add(key)
    warnings.add(entry, {
      code: 'UNKNOWN_FIELD',
      path: reference.field,
      offset: reference.offset,
      message: messageOf(entry, reference, problem.where),
      hint: problem.hint,
    })
  }
}

/** Reports fields that exist and are not what the author means: of a list, or of the body instead of its key `payload`. */
function lintMisread(
  entry: MappingEntry,
  { root, steps, field, offset }: NamedReference,
  payloads: readonly unknown[],
  warnings: Warnings,
): void {
  if (root !== 'payload') return
  const text = valueAt(entry.value, field)
  if (typeof text !== 'string') return
  const at = { path: field, offset }
  const named = `\`${writePath(field)}\` of mapping "${entry.id}"`
  if (text.startsWith('payload.', offset) && isKnown(payloads, ['payload', ...steps]))
    warnings.add(entry, {
      ...at,
      code: 'OTHER_PAYLOAD',
      message: `${named} reads ${steps.join('.')} of the whole body, whose key \`payload\` has it too`,
      hint: `Write payload.payload.${steps.join('.')} for that one, or ${steps.join('.')} alone for that of the body.`,
    })
  // `item.name` is a reference to the list as well, and means the element.
  const isWritten = [steps.join('.'), `payload.${steps.join('.')}`].some((path) =>
    text.startsWith(path, offset),
  )
  const isTemplate = text.includes('{{') && !/^(?:match|vars|forEach)$/.test(String(field[0]))
  const list =
    isWritten && isTemplate && unwrapExpression(text) === undefined
      ? listOnTheWay(payloads, steps)
      : undefined
  if (list === undefined) return
  const name = steps.at(-1) ?? ''
  warnings.add(entry, {
    ...at,
    code: 'LIST_FIELD',
    message: `${named} reads ${steps.join('.')} of a list, which a template renders as nothing`,
    hint: `Write {{join ${list} ", " "${name}"}}, or {{#each ${list}}}{{${name}}}{{/each}}.`,
  })
}

/** The path of a list of which a template would read a named field. */
function listOnTheWay(payloads: readonly unknown[], steps: readonly string[]): string | undefined {
  let list: string | undefined
  for (const payload of payloads) {
    let value = payload
    let isList = false
    for (const [index, step] of steps.entries()) {
      isList ||= Array.isArray(value) && step !== 'length' && !/^\d+$/.test(step)
      if (isList && index > 0) list ??= steps.slice(0, index).join('.')
      if (isList || typeof value !== 'object' || value === null) break
      value = (value as Readonly<Record<string, unknown>>)[step]
    }
    // Some payloads have a plain value there.
    if (!isList && value !== undefined && value !== null) return undefined
  }
  return list
}

/** For a name that is read from the payload, and that `vars` or the path define as well. */
function forgottenRoot(
  { root, steps }: NamedReference,
  given: Given,
): { readonly where: string; readonly hint: string } | undefined {
  const [first = ''] = steps
  const definer = root === 'payload' && Object.keys(given).find((name) => given[name]?.includes(first))
  if (!definer) return undefined
  const where = `that is a field of the payload, and \`${definer}\` has a value of this name`
  return { where, hint: `Did you mean ${[definer, ...steps].join('.')}?` }
}

function problemOf(
  entry: MappingEntry,
  { root, steps, field, offset, isOptional }: NamedReference,
  given: Given,
  payloads: readonly unknown[],
): { readonly where: string; readonly hint: string } | undefined {
  const names = given[root]
  const [first] = steps
  if (names !== undefined) {
    if (first === undefined || names.includes(first)) return undefined
    const nearest = nearestName(first, names)
    const where = root === 'vars' ? 'the mapping computes no such value' : '`match.path` has no such segment'
    const available = names.length === 0 ? `There are no ${root} here.` : `There are ${names.join(', ')}.`
    return { where, hint: nearest === undefined ? available : `Did you mean ${root}.${nearest}?` }
  }
  if (root !== 'payload' || payloads.length === 0 || isKnown(payloads, steps)) return undefined
  const where = 'no sample of its endpoint has such a field'
  if (isPayloadKey(entry, { field, offset }) && isKnown(payloads, ['payload', ...steps]))
    return {
      where,
      hint: `Write payload.payload.${steps.join('.')}: the first \`payload\` is the whole body.`,
    }
  // A field that may be absent is reported only if it is probably misspelt.
  if (isOptional && nearestField(payloads, steps, true) === undefined) return undefined
  const hint =
    (isKnown(payloads, steps.slice(0, 1)) ? undefined : hintForName(steps)) ??
    hintForPattern(steps, field, payloads) ??
    nearestHint(payloads, steps, field)
  return { where, hint }
}

/** True if the reference is written with `payload.` in front. */
function isPayloadKey(
  { value }: MappingEntry,
  { field, offset }: Pick<NamedReference, 'field' | 'offset'>,
): boolean {
  const text = valueAt(value, field)
  return typeof text === 'string' && text.startsWith('payload.', offset)
}

function nearestHint(
  payloads: readonly unknown[],
  steps: readonly string[],
  field: NamedReference['field'],
): string {
  const nearest = nearestField(payloads, steps)
  if (nearest === undefined && field[0] === 'vars' && steps.length === 1)
    return `Quote a literal inside the expression: ${field[1]}: "'${steps[0]}'".`
  return nearest === undefined
    ? 'Samples are the bodies of tests, the files of `lint --samples` and the payload of `try`. Add one that has it, or fix the name.'
    : `Did you mean ${nearest}?`
}

/** For names that look like a root which this mapping lacks, or which no template can read. */
function hintForName([first = '', second]: readonly string[]): string | undefined {
  if (second === undefined) return undefined
  if (first === 'vars' || first === 'params') return `There are no ${first} here.`
  if (first === 'item') return 'Only a mapping with forEach has an item.'
  if (first === 'env' || first === 'process' || first === 'secrets') return environmentHint
  return undefined
}

const environmentHint =
  'Templates and expressions do not see the environment. Write the value, or hand it to a transform by `transform.with`.'

/** For a key of the payload that was probably meant as something else. */
function hintForPattern(
  steps: readonly string[],
  field: NamedReference['field'],
  payloads: readonly unknown[],
): string | undefined {
  if (field[0] !== 'match' || field[1] !== 'body') return undefined
  const nested = steps.flatMap((step) => step.split('.'))
  if (nested.length > steps.length && isKnown(payloads, nested))
    return `A key with a dot in it is one key. Nest it: ${nested.join(': { ')}: …${' }'.repeat(nested.length - 1)}.`
  const operator = steps.length > 1 ? nearestName(steps.at(-1) ?? '', operatorNames) : undefined
  return operator === undefined ? undefined : `Did you mean the operator ${operator}?`
}

function messageOf(entry: MappingEntry, { root, steps, field }: NamedReference, where: string): string {
  const names = steps.filter((step) => step !== anyStep)
  const named = (root === 'payload' ? names : [root, ...names]).join('.')
  return `\`${writePath(field)}\` of mapping "${entry.id}" names ${named}; ${where}`
}
