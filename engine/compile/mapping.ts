/** Compiles a mapping: every field becomes a closure, and every mistake in it is reported. */

import type { MappingEntry, MappingSource } from '../config/configuration.ts'
import { type FieldName, fieldNames, fieldsOf } from '../config/values/fields.ts'
import type { Path } from '../config/values/path.ts'
import { isCalledSecret } from '../config/values/secret.ts'
import type { Program } from '../resolve/model/program.ts'
import type { ScopeNames } from '../resolve/model/scope.ts'
import type { Transforms } from '../transform/port.ts'
import { checkReferences } from './fields/literal-reference.ts'
import { createReport, type Report, type ReportedFinding } from './fields/report.ts'
import {
  checkOrder,
  listOfForEach,
  namesOfForEach,
  readsElementAsFirst,
  scopeNamesOf,
  withElementList,
} from './fields/scope-names.ts'
import { type CompileContext, checkField, runnerProblem } from './fields/settings-check.ts'
import { createTexts, isConstantKey, type ReadName, type SharedTexts, type Texts } from './fields/texts.ts'
import { compileMatch } from './match/compile-match.ts'
import { compilePayloadSchema, type SharedSchemas } from './schema/payload-schema.ts'

/** The compiled mapping, which does not depend on id and place. */
export interface CompiledMapping {
  readonly parts: Omit<Program, 'number' | 'id' | 'place' | 'transform'>
  readonly findings: readonly ReportedFinding[]
}

/** State that the mappings of one compilation share. */
export interface Shared extends SharedTexts {
  readonly schemas: SharedSchemas
  /** Absent where the mappings were checked against the settings before. */
  readonly context?: CompileContext
}

/** The parts may be used only if no finding is an error. */
export function compileMapping(source: MappingSource, shared: Shared): CompiledMapping {
  const names = scopeNamesOf(source)
  const list = listOfForEach(source)
  const read: ReadName[] = []
  const findings: ReportedFinding[] = []
  const report = createReport(findings)
  const parts = compileWithNames(source, names, shared, report, read)
  checkOrder(source, read, report)
  checkReferences(source, report)
  const isElement = list !== undefined && readsElementAsFirst(list, source, read, report)
  if (!isElement) return { parts, findings }
  // The mistakes are the same ones.
  const again = compileWithNames(source, withElementList(names, list), shared, createReport([]), [])
  return { parts: again, findings }
}

function compileWithNames(
  source: MappingSource,
  names: ScopeNames,
  shared: Shared,
  report: Report,
  read: ReadName[],
): CompiledMapping['parts'] {
  const { action } = source
  let evaluates = false
  const onUnbounded = () => {
    evaluates = true
  }
  const texts = createTexts({ shared, report, read, onUnbounded }, names)
  const beforeElements = createTexts({ shared, report, read, onUnbounded }, namesOfForEach(names))
  if (source.allowUnsafeExternalContent === true) warnOfUnsafe(report)
  const schema = compilePayloadSchema(source.schema, report, shared.schemas)
  if (schema !== undefined) onUnbounded()
  const parts: Omit<CompiledMapping['parts'], 'evaluates'> = {
    action,
    matcher: compileMatch(source.match, report, beforeElements),
    checkPayload: schema,
    forEach:
      source.forEach === undefined
        ? undefined
        : beforeElements.expression(source.forEach, ['forEach'])?.evaluate,
    ...compileVars(source.vars, texts),
    fields: compileFields(source, texts, shared.context, report),
    targets: action === 'agent' ? source.deliverTo?.length : undefined,
    strict: source.strict === true,
    continues: source.continue === true,
    runner: source.runner,
    ...(action === 'agent' && source.busy === 'reject' && { busy: 'reject' }),
    ...(action === 'agent' && compileCoalesce(source.coalesce, texts)),
    ...compileDedupe(source.dedupe, report, texts),
    trusted: source.allowUnsafeExternalContent === true,
  }
  return { ...parts, evaluates }
}

/** Compiles the fields of the action and of its targets, and checks them against the settings. */
function compileFields(
  source: MappingSource,
  texts: Texts,
  context: CompileContext | undefined,
  report: Report,
): Program['fields'] {
  const { action, runner, deliverTo = [] } = source
  const problem = context && runnerProblem(runner, context.runners)
  if (problem !== undefined) report.error({ code: 'UNKNOWN_RUNNER', path: ['runner'], ...problem })
  const own = fieldNames.filter((name) => fieldsOf[action].includes(name))
  const written: { readonly name: FieldName; readonly path: Path; readonly value: unknown }[] = [
    ...own.map((name) => ({ name, path: [name], value: source[name] })),
    ...(action === 'agent' ? deliverTo : []).flatMap(({ channel, to }, index) => [
      { name: 'channel' as const, path: ['deliverTo', index, 'channel'], value: channel },
      { name: 'to' as const, path: ['deliverTo', index, 'to'], value: to },
    ]),
  ]
  return written.flatMap(({ name, path, value }) => {
    if (value === undefined || value === null) return []
    const compiled = texts.field(value, path)
    if (compiled === undefined) return []
    if (context) checkField({ name, path, value }, compiled, source, context.rules, report)
    return [{ name, path, field: compiled.field }]
  })
}

function compileVars(vars: MappingSource['vars'], texts: Texts): Pick<Program, 'vars' | 'ownTexts'> {
  const ownTexts = new Map<string, readonly string[]>()
  const compiled = Object.entries(vars ?? {}).flatMap(([name, text]) => {
    const expression = texts.expression(text, ['vars', name])
    // An explanation of a message hides a secret by the name of its value.
    if (expression?.choices !== undefined && !isCalledSecret(name)) ownTexts.set(name, expression.choices)
    return expression === undefined ? [] : [{ name, evaluate: expression.evaluate }]
  })
  return { vars: compiled, ...(ownTexts.size > 0 && { ownTexts }) }
}

function compileCoalesce(coalesce: MappingSource['coalesce'], texts: Texts): Pick<Program, 'coalesce'> {
  if (coalesce === undefined) return {}
  const key = texts.key(coalesce.key, ['coalesce', 'key'])
  return key === undefined ? {} : { coalesce: { ...coalesce, key } }
}

const everyDelivery: NonNullable<Program['dedupe']> = Object.freeze({})

/** If a mapping sets nothing, each delivery of the provider counts once. */
function compileDedupe(
  dedupe: MappingSource['dedupe'],
  report: Report,
  texts: Texts,
): Pick<Program, 'dedupe'> {
  if (dedupe === undefined) return { dedupe: everyDelivery }
  const { enabled, key: text, windowMs } = dedupe
  const key = text === undefined ? undefined : texts.key(text, ['dedupe', 'key'])
  if (!enabled) return {}
  if (key !== undefined && text !== undefined && isConstantKey(text)) {
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
