/** Owns compiling a mapping: every field checked and made a closure, everything wrong with it reported. */

import type { MappingEntry } from '../config/configuration.ts'
import { nearestName } from '../config/nearest.ts'
import { thinkingLevels } from '../config/settings.ts'
import { type FieldName, fieldNames, type Program } from '../resolve/program.ts'
import {
  type Checked,
  checkChannel,
  checkContent,
  checkDeliver,
  checkMode,
  checkModel,
  checkSessionKey,
  checkThinking,
  checkTimeout,
  isProblem,
  type Rules,
  wakeModes,
} from '../resolve/rules.ts'
import { type CompiledField, compileField } from './field.ts'
import { compileMatch } from './match/compile-match.ts'
import type { Report } from './report.ts'

/** The fields that say something for an action; loading warns of the others. */
const fieldsOf: Readonly<Record<Program['action'], ReadonlySet<FieldName>>> = {
  wake: new Set(['text', 'mode', 'wakeMode']),
  agent: new Set(fieldNames.filter((name) => name !== 'text')),
}

const routing: readonly FieldName[] = ['to', 'channel', 'model']

/** The program serves only if nothing was reported as an error. */
export function compileMapping(
  entry: MappingEntry,
  rules: Rules,
  runners: ReadonlySet<string>,
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

  const fields: { name: FieldName; field: CompiledField['field'] }[] = []
  for (const name of fieldNames) {
    const value = source[name]
    if (value === undefined || value === null) continue
    if (!fieldsOf[action].has(name)) continue
    const compiled = compileField(value, [name], report)
    if (compiled === undefined) continue
    checkPlaceholder(name, compiled, entry, rules, report)
    if (compiled.field.kind === 'literal') checkLiteral(name, value, entry, rules, report)
    fields.push({ name, field: compiled.field })
  }

  return Object.freeze({
    id,
    action,
    place: entry.label,
    matcher: compileMatch(source.match, report),
    checkPayload: undefined,
    forEach: undefined,
    vars: [],
    fields: Object.freeze(fields),
    deliverTo: undefined,
    strict: source.strict === true,
    continues: source.continue === true,
    runner: source.runner,
    trusted: source.allowUnsafeExternalContent === true,
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

/** Where a reply goes and which model answers is the operator's to say, unless the mapping says otherwise. */
function checkPlaceholder(
  name: FieldName,
  compiled: CompiledField,
  entry: MappingEntry,
  rules: Rules,
  report: Report,
): void {
  const offset = compiled.placeholder
  if (offset === undefined) return
  if (routing.includes(name) && entry.value.allowPayloadRouting !== true) {
    const hint = 'Write it out, or set allowPayloadRouting: true if every sender may choose it.'
    report.error({ code: 'PAYLOAD_ROUTING', path: [name], message: 'may hold no placeholder', hint, offset })
  }
  if (name === 'sessionKey') checkSessionPrefix(compiled.prefix, offset, rules, report)
}

function checkSessionPrefix(prefix: string, offset: number, rules: Rules, report: Report): void {
  const path = ['sessionKey']
  if (!/\S\s*:$/.test(prefix)) {
    report.error({
      code: 'SESSION_KEY_PREFIX',
      path,
      message: 'may hold placeholders only after a fixed prefix that ends in ":"',
      hint: 'Write sessionKey: "hook:github:{{repository.name}}", so that no payload can choose the whole key.',
      offset,
    })
    return
  }
  const fixed = prefix.trimStart()
  const allowed = rules.sessionKeyPrefixes
  if (allowed === undefined || allowed.some((known) => fixed.startsWith(known) || known.startsWith(fixed)))
    return
  report.error({
    code: 'SESSION_KEY_NOT_ALLOWED',
    path,
    message: `must begin with ${allowed.map((known) => `"${known}"`).join(' or ')}`,
    hint: 'See hooks.allowedSessionKeyPrefixes.',
  })
}

/** What is known at load is refused at load, by the checks that a request meets. */
function checkLiteral(
  name: FieldName,
  value: unknown,
  entry: MappingEntry,
  rules: Rules,
  report: Report,
): void {
  const checked = literalCheck(name, value, entry, rules)
  if (checked === undefined || !isProblem(checked)) return
  report.error({
    code: checked.code,
    path: [name],
    message: checked.message,
    hint: literalHint(name, value, rules),
  })
}

function literalCheck(
  name: FieldName,
  value: unknown,
  { value: source }: MappingEntry,
  rules: Rules,
): Checked<unknown> | undefined {
  // A blank field counts as absent, except the text.
  const blank = typeof value === 'string' && value.trim() === ''
  if (blank && name !== 'text' && name !== 'message') return undefined
  switch (name) {
    case 'text':
    case 'message':
      return checkContent(value)
    case 'mode':
    case 'wakeMode':
      return checkMode(value)
    case 'deliver':
      return checkDeliver(value)
    case 'channel':
      // Whether it is delivered may be known only at run time; admission asks again.
      return checkChannel(value, source.deliver === undefined || source.deliver === true, rules)
    case 'model':
      return checkModel(value, rules)
    case 'thinking':
      return checkThinking(value)
    case 'timeoutSeconds':
      return checkTimeout(value)
    case 'sessionKey':
      return checkSessionKey(value, rules)
    default:
      return undefined
  }
}

function literalHint(name: FieldName, value: unknown, rules: Rules): string | undefined {
  if (typeof value !== 'string') return undefined
  if (name === 'deliver' || name === 'timeoutSeconds') return `Write ${name} without quotes.`
  const nearest = nearestName(value, knownNames(name, rules))
  if (nearest !== undefined && nearest !== value) return `Did you mean ${nearest}?`
  return name === 'channel' ? 'Configure it under channels, or write last.' : undefined
}

function knownNames(name: FieldName, rules: Rules): readonly string[] {
  if (name === 'channel') return ['last', ...rules.channels]
  if (name === 'thinking') return thinkingLevels
  if (name === 'mode' || name === 'wakeMode') return wakeModes
  if (name === 'model') return [...(rules.models?.allowed ?? []), ...Object.keys(rules.models?.aliases ?? {})]
  return []
}
