/** Checks a mapping against the settings, and its literals with the checks for requests. */

import type { MappingSource } from '../../config/configuration.ts'
import { type FieldName, thinkingLevels } from '../../config/values/fields.ts'
import { nearestName } from '../../config/values/nearest.ts'
import type { Path } from '../../config/values/path.ts'
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
} from '../../resolve/admit/rules.ts'
import type { RefusalCode } from '../../resolve/model/refusal.ts'
import { unwrapExpression } from '../expression/compile-expression.ts'
import type { Report } from './report.ts'
import type { CompiledField } from './texts.ts'

/** Context in which a mapping is checked. */
export interface CompileContext {
  readonly rules: Rules
  readonly runners: ReadonlySet<string>
}

/** A field as it is written. `path` leads to it, and may lead into `deliverTo`. */
interface WrittenField {
  readonly name: FieldName
  readonly path: Path
  readonly value: unknown
}

/** The operator decides where a reply goes, which model answers, and how a session key begins. */
export function checkField(
  written: WrittenField,
  { field, placeholder, prefix }: CompiledField,
  source: MappingSource,
  rules: Rules,
  report: Report,
): void {
  const { name, path, value } = written
  const isPlaced = name === 'sessionKey' || routing.includes(name)
  const choices = field.kind === 'expression' && isPlaced ? field.choices : undefined
  // Where an expression only chooses, the operator has written out all possible values.
  const isWritten = field.kind === 'literal' || (isPlaced && placeholder === undefined)
  const values = isWritten ? [value] : (choices ?? [])
  for (const each of new Set(values)) checkLiteral(name, path, each, source, rules, report)
  if (isPlaced && placeholder !== undefined && choices === undefined)
    checkPlaceholder(written, placeholder, prefix, source, rules, report)
}

function checkLiteral(
  name: FieldName,
  path: Path,
  value: unknown,
  source: MappingSource,
  rules: Rules,
  report: Report,
): void {
  // A blank field counts as absent, except the text.
  if (typeof value === 'string' && value.trim() === '' && name !== 'text' && name !== 'message') return
  const checked = literalChecks[name]?.(value, rules, source)
  if (checked === undefined || !isProblem(checked)) return
  const hint = literalHint(name, value, checked.code, rules)
  report.error({ code: checked.code, path, message: checked.message, hint })
}

type LiteralCheck = (value: unknown, rules: Rules, source: MappingSource) => Checked<unknown>

const literalChecks: Partial<Record<FieldName, LiteralCheck>> = {
  text: checkContent,
  message: checkContent,
  mode: checkMode,
  wakeMode: checkMode,
  deliver: checkDeliver,
  // Delivery may be known only at run time; admission checks again.
  channel: (value, rules, { deliver = true }) => checkChannel(value, deliver === true, rules),
  model: checkModel,
  thinking: checkThinking,
  timeoutSeconds: checkTimeout,
  sessionKey: checkSessionKey,
}

function literalHint(name: FieldName, value: unknown, code: RefusalCode, rules: Rules): string | undefined {
  if (typeof value !== 'string') return undefined
  if (name === 'deliver') return 'Write true or false, without quotes.'
  if (name === 'timeoutSeconds')
    return 'Write a number without quotes and without a unit: 600 for ten minutes.'
  const nearest = nearestName(value, knownNames(name, rules))
  if (nearest !== undefined && nearest !== value) return `Did you mean ${nearest}?`
  if (code === 'CHANNEL_NOT_CONFIGURED') return 'Configure it under channels, or write last.'
  if (name === 'channel') return 'There is no such channel; a plugin of your own may bring it.'
  if (name === 'model' && !value.includes('/'))
    return `Write it like openai/gpt-5, or name an alias of \`agents.defaults.models.aliases\`, ${aliasesOf(rules)}.`
  return undefined
}

function aliasesOf({ models }: Rules): string {
  const names = Object.keys(models?.aliases ?? {})
  return names.length === 0 ? 'where there is none yet' : `which are ${names.join(', ')}`
}

function knownNames(name: FieldName, rules: Rules): readonly string[] {
  if (name === 'channel') return ['last', ...rules.channels]
  if (name === 'thinking') return thinkingLevels
  if (name === 'mode' || name === 'wakeMode') return wakeModes
  if (name === 'model') return [...(rules.models?.allowed ?? []), ...Object.keys(rules.models?.aliases ?? {})]
  return []
}

const routing: readonly FieldName[] = ['to', 'channel', 'model']

/** The operator decides where a reply goes and which model answers, unless the mapping allows payloads to decide. */
function checkPlaceholder(
  { name, path, value }: WrittenField,
  offset: number,
  prefix: string,
  source: MappingSource,
  rules: Rules,
  report: Report,
): void {
  if (routing.includes(name) && source.allowPayloadRouting !== true) {
    const isExpression = typeof value === 'string' && unwrapExpression(value) !== undefined
    const message = isExpression
      ? 'may hold no expression that gives what a payload says'
      : 'may hold no placeholder'
    const hint = isExpression
      ? `Let it choose between texts that are written in it, '{% urgent ? "one" : "other" %}', or set allowPayloadRouting: true if every sender may choose it.`
      : 'Write it out, or set allowPayloadRouting: true if every sender may choose it.'
    report.error({ code: 'PAYLOAD_ROUTING', path, message, hint, offset })
  }
  if (name === 'sessionKey') checkSessionPrefix(prefix, offset, rules, report)
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

/** Checks the name of a runner, in a mapping or in the settings. */
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
