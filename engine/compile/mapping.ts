/**
 * Compiles a mapping: every field becomes a closure, and every mistake in it is reported. The result depends on the
 * mapping's text alone; `mapping-check.ts` checks it against the settings, and {@link bindTransform} finds its
 * transform.
 */

import type { MappingEntry, MappingSource } from '../config/configuration.ts'
import { type FieldName, fieldNames, fieldsOf } from '../config/values/fields.ts'
import type { Path } from '../config/values/path.ts'
import { isCalledSecret } from '../config/values/secret.ts'
import type { Field, Program } from '../resolve/model/program.ts'
import type { ScopeNames } from '../resolve/model/scope.ts'
import type { Transforms } from '../transform/port.ts'
import { compileField, compileWhole } from './fields/field.ts'
import { compileKey, isConstantKey } from './fields/key.ts'
import { checkReferences } from './fields/literal-reference.ts'
import { isPlacedByPayload, type PendingCheck } from './fields/placeholder.ts'
import { createReport, type Report, type ReportedFinding } from './fields/report.ts'
import {
  checkOrder,
  listOfForEach,
  namesOfForEach,
  type ReadName,
  readsElementAsFirst,
  scopeNamesOf,
  withElementList,
} from './fields/scope-names.ts'
import { partsWithNames, type SharedParts } from './fields/shared-parts.ts'
import { compileMatch } from './match/compile-match.ts'
import { compilePayloadSchema } from './schema/payload-schema.ts'

/** The compiled mapping, which does not depend on id and place. */
export interface CompiledMapping {
  readonly parts: Omit<Program, 'number' | 'id' | 'place' | 'transform'>
  /** Fields that are still to be checked against the settings. */
  readonly pendingChecks: readonly PendingCheck[]
  readonly findings: readonly ReportedFinding[]
}

/** The parts may be used only if no finding is an error. */
export function compileMapping(source: MappingSource, shared: SharedParts): CompiledMapping {
  const names = scopeNamesOf(source)
  const list = listOfForEach(source)
  const read: ReadName[] = []
  const compiled = compileWithNames(source, names, shared, read)
  const report = createReport(compiled.findings)
  checkOrder(source, read, report)
  checkReferences(source, report)
  const isElement = list !== undefined && readsElementAsFirst(list, source, read, report)
  if (!isElement) return compiled
  const { parts, pendingChecks } = compileWithNames(source, withElementList(names, list), shared, [])
  return { parts, pendingChecks, findings: compiled.findings }
}

function compileWithNames(
  source: MappingSource,
  names: ScopeNames,
  everyMapping: SharedParts,
  read: ReadName[],
): CompiledMapping & { readonly findings: ReportedFinding[] } {
  const { action } = source
  const findings: ReportedFinding[] = []
  const pendingChecks: PendingCheck[] = []
  const report = createReport(findings)
  const onNames: SharedParts['onNames'] = (path, each) =>
    void read.push(...each.map((name) => ({ ...name, path })))
  let evaluates = false
  const onExpression = () => {
    evaluates = true
  }
  const shared = partsWithNames(everyMapping, names, onNames, onExpression)
  const beforeElements = partsWithNames(everyMapping, namesOfForEach(names), onNames, onExpression)
  if (source.allowUnsafeExternalContent === true) warnOfUnsafe(report)

  function compile(name: FieldName, path: Path, value: unknown): Field | undefined {
    const compiled = compileField(value, path, report, shared)
    if (compiled === undefined) return undefined
    const { field, placeholder, prefix, choices } = compiled
    if (field.kind === 'literal') pendingChecks.push({ name, path, value, prefix })
    else if (isPlacedByPayload(name)) pendingChecks.push({ name, path, value, placeholder, prefix, choices })
    return field
  }

  const fields: { name: FieldName; field: Field }[] = []
  for (const name of fieldNames) {
    const value = source[name]
    if (value === undefined || value === null || !fieldsOf[action].includes(name)) continue
    const field = compile(name, [name], value)
    if (field !== undefined) fields.push({ name, field })
  }

  const parts: Omit<CompiledMapping['parts'], 'evaluates'> = {
    action,
    matcher: compileMatch(source.match, report, beforeElements),
    checkPayload: compilePayloadSchema(source.schema, report, shared.schemas),
    forEach:
      source.forEach === undefined
        ? undefined
        : compileWhole(source.forEach, ['forEach'], report, beforeElements)?.evaluate,
    ...compileVars(source.vars, report, shared),
    fields,
    deliverTo: action === 'agent' ? compileTargets(source.deliverTo, compile) : undefined,
    strict: source.strict === true,
    continues: source.continue === true,
    runner: source.runner,
    ...(action === 'agent' && source.busy === 'reject' && { busy: 'reject' }),
    ...(action === 'agent' && compileCoalesce(source.coalesce, report, shared)),
    ...compileDedupe(source.dedupe, report, shared),
    trusted: source.allowUnsafeExternalContent === true,
  }
  return { parts: { ...parts, evaluates }, pendingChecks, findings }
}

function compileVars(
  vars: MappingSource['vars'],
  report: Report,
  shared: SharedParts,
): Pick<Program, 'vars' | 'ownTexts'> {
  const ownTexts = new Map<string, readonly string[]>()
  const compiled = Object.entries(vars ?? {}).flatMap(([name, text]) => {
    const expression = compileWhole(text, ['vars', name], report, shared)
    // What shows how a message came about hides a secret by the name of its value.
    if (expression?.choices !== undefined && !isCalledSecret(name)) ownTexts.set(name, expression.choices)
    return expression === undefined ? [] : [{ name, evaluate: expression.evaluate }]
  })
  return { vars: compiled, ...(ownTexts.size > 0 && { ownTexts }) }
}

function compileCoalesce(
  coalesce: MappingSource['coalesce'],
  report: Report,
  shared: SharedParts,
): Pick<Program, 'coalesce'> {
  if (coalesce === undefined) return {}
  const key = compileKey('coalesce', coalesce.key, report, shared)
  return key === undefined ? {} : { coalesce: { ...coalesce, key } }
}

const everyDelivery: NonNullable<Program['dedupe']> = Object.freeze({})

/** If a mapping sets nothing, each delivery of the provider counts once. */
function compileDedupe(
  dedupe: MappingSource['dedupe'],
  report: Report,
  shared: SharedParts,
): Pick<Program, 'dedupe'> {
  if (dedupe === undefined) return { dedupe: everyDelivery }
  const { enabled, key: text, windowMs } = dedupe
  const key = text === undefined ? undefined : compileKey('dedupe', text, report, shared)
  if (!enabled) return {}
  if (key !== undefined && text !== undefined && isConstantKey(text, shared)) {
    report.error({
      code: 'CONSTANT_KEY',
      path: ['dedupe', 'key'],
      message: 'is the same for every request, so that only the first one would count',
      hint: 'Name a value that differs between events, such as headers.`x-delivery-id` or "{{event.id}}", or write `enabled: false`.',
    })
  }
  return { dedupe: { ...(key && { key }), ...(windowMs !== undefined && { windowMs }) } }
}

function warnOfUnsafe(report: Report): void {
  report.warn({
    code: 'UNSAFE_CONTENT',
    path: ['allowUnsafeExternalContent'],
    message: 'puts payload values into the prompt without the boundary',
    hint: 'Keep it only where every sender is trusted.',
  })
}

/** Finds the transform among those of the current candidate. */
export function bindTransform(
  { value: { transform: wanted }, parameters }: MappingEntry,
  transforms: Transforms,
  report: Report,
): Program['transform'] {
  if (wanted === undefined) return undefined
  const { module } = wanted
  const call = transforms.bind(module, wanted.export ?? 'default', parameters)
  if (call !== undefined) return { module, call }
  report.error({
    code: 'TRANSFORM_NOT_LOADED',
    path: ['transform', 'module'],
    message: 'names a module that nothing has loaded',
    hint: 'This host does not run transforms.',
  })
  return undefined
}

type Compile = (name: FieldName, path: Path, value: unknown) => Field | undefined

function compileTargets(targets: MappingEntry['value']['deliverTo'], compile: Compile): Program['deliverTo'] {
  return targets?.flatMap(({ channel, to }, index) => {
    const path = ['deliverTo', index]
    const compiled = compile('channel', [...path, 'channel'], channel)
    const address = to === undefined ? undefined : compile('to', [...path, 'to'], to)
    return compiled === undefined ? [] : [{ channel: compiled, to: address }]
  })
}
