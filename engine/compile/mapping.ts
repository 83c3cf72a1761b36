/** Owns compiling a mapping: every field checked and made a closure, everything wrong with it reported. */

import type { MappingEntry } from '../config/configuration.ts'
import { type FieldName, fieldNames, fieldsOf } from '../config/fields.ts'
import { nearestName } from '../config/nearest.ts'
import type { Path } from '../config/path.ts'
import type { Field, Program } from '../resolve/program.ts'
import type { Rules } from '../resolve/rules.ts'
import type { Transforms } from '../transform/port.ts'
import { compileField, compileWhole } from './field.ts'
import { checkLiteral } from './literal.ts'
import { compileMatch } from './match/compile-match.ts'
import { compilePayloadSchema } from './payload-schema.ts'
import { checkPlaceholder } from './placeholder.ts'
import type { Report } from './report.ts'

/** What a mapping is compiled against. */
export interface MappingSurroundings {
  readonly rules: Rules
  readonly runners: ReadonlySet<string>
  readonly transforms: Transforms
}

/** The program serves only if nothing was reported as an error. */
export function compileMapping(
  entry: MappingEntry,
  { rules, runners, transforms }: MappingSurroundings,
  report: Report,
): Program {
  const { id, value: source } = entry
  const { action } = source
  checkRunner(source.runner, runners, report)
  if (source.allowUnsafeExternalContent === true) {
    report.warn({
      code: 'UNSAFE_CONTENT',
      path: ['allowUnsafeExternalContent'],
      message: 'puts payload values into the prompt without the boundary',
      hint: 'Keep it only where every sender is trusted.',
    })
  }

  function compile(name: FieldName, path: Path, value: unknown): Field | undefined {
    const compiled = compileField(value, path, report)
    if (compiled === undefined) return undefined
    checkPlaceholder(name, path, compiled, source, rules, report)
    if (compiled.field.kind === 'literal') checkLiteral(name, path, value, source, rules, report)
    return compiled.field
  }

  const fields: { name: FieldName; field: Field }[] = []
  for (const name of fieldNames) {
    const value = source[name]
    if (value === undefined || value === null || !fieldsOf[action].includes(name)) continue
    const field = compile(name, [name], value)
    if (field !== undefined) fields.push({ name, field })
  }

  return Object.freeze({
    id,
    action,
    place: entry.label,
    matcher: compileMatch(source.match, report),
    checkPayload: compilePayloadSchema(source.schema, report),
    forEach: source.forEach === undefined ? undefined : compileWhole(source.forEach, ['forEach'], report),
    vars: Object.entries(source.vars ?? {}).flatMap(([name, text]) => {
      const evaluate = compileWhole(text, ['vars', name], report)
      return evaluate === undefined ? [] : [{ name, evaluate }]
    }),
    fields,
    deliverTo: action === 'agent' ? compileTargets(source.deliverTo, compile) : undefined,
    transform: bindTransform(source.transform, transforms, report),
    strict: source.strict === true,
    continues: source.continue === true,
    runner: source.runner,
    trusted: source.allowUnsafeExternalContent === true,
  })
}

function bindTransform(
  wanted: MappingEntry['value']['transform'],
  transforms: Transforms,
  report: Report,
): Program['transform'] {
  if (wanted === undefined) return undefined
  const { module } = wanted
  const call = transforms.bind(module, wanted.export ?? 'default')
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

function checkRunner(runner: string | undefined, runners: ReadonlySet<string>, report: Report): void {
  const problem = runnerProblem(runner, runners)
  if (problem !== undefined) report.error({ code: 'UNKNOWN_RUNNER', path: ['runner'], ...problem })
}

/** The settings' default is held to the same rule. */
export function runnerProblem(
  runner: string | undefined,
  runners: ReadonlySet<string>,
): { message: string; hint: string } | undefined {
  if (runner === undefined || runners.has(runner)) return undefined
  const nearest = nearestName(runner, runners)
  return {
    message: `must be one of ${[...runners].sort().join(', ')}`,
    hint:
      nearest === undefined
        ? 'Name one of them, or add it under agents.runners.'
        : `Did you mean ${nearest}?`,
  }
}
