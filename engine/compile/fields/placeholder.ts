/** Checks which fields take values from a payload, and after which literal text. */

import type { MappingSource } from '../../config/configuration.ts'
import type { FieldName } from '../../config/values/fields.ts'
import type { Path } from '../../config/values/path.ts'
import type { Rules } from '../../resolve/admit/rules.ts'
import { unwrapExpression } from '../expression/compile-expression.ts'
import type { Report } from './report.ts'

/** A field to check against the settings: its value, or what is known of a template or an expression at load. */
export interface PendingCheck {
  readonly name: FieldName
  /** The path to the field, which may stand in `deliverTo`. */
  readonly path: Path
  readonly value: unknown
  /** The place of its first placeholder. Absent for a literal. */
  readonly placeholder?: number
  /** The literal text before that. */
  readonly prefix: string
  /** The literal texts that an expression chooses between, if it does nothing else. */
  readonly choices?: readonly string[]
}

const routing: readonly FieldName[] = ['to', 'channel', 'model']

/** Whether the settings decide if the field may hold a placeholder. */
export function isPlacedByPayload(name: FieldName): boolean {
  return name === 'sessionKey' || routing.includes(name)
}

/** The operator decides where a reply goes and which model answers, unless the mapping allows payloads to decide. */
export function checkPlaceholder(
  { name, path, value, placeholder: offset, prefix, choices }: PendingCheck,
  source: MappingSource,
  rules: Rules,
  report: Report,
): void {
  // The operator has written out all possible values.
  if (offset === undefined || choices !== undefined) return
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
