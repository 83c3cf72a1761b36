/** Writes the line that says how a tried request would end. */

import type { Decision, HookRequest } from '@reveille/engine'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'

/** Returns lines. */
export function formatOutcome(endpoint: string, decision: Decision, status: number, paint: Paint): string[] {
  const isGood = !('code' in decision)
  const outcome = isGood ? paint.green(decision.outcome) : paint.red(decision.outcome)
  const head = `/${printable(endpoint)}  ${paint.bold(String(status))}  ${outcome}`
  if (decision.outcome === 'accepted') {
    const mappings = [...new Set(decision.actions.map(({ mapping }) => mapping))].filter(Boolean)
    const warnings = (decision.warnings ?? []).map(
      ({ pointer, message }) => `  ${printable(pointer)}  ${printable(message)}`,
    )
    return [mappings.length > 0 ? `${head}  by ${printable(mappings.join(', '))}` : head, ...warnings]
  }
  if (!('code' in decision)) return [`${head}  ${printable(decision.reason)}`]
  const { code, message, reason, details, cause } = decision
  const beneath =
    reason === undefined && decision.outcome === 'failed' && cause instanceof Error
      ? [`  ${printable(cause.message)}`]
      : []
  const pointers = details.map(({ pointer, message }) => `  ${printable(pointer)}  ${printable(message)}`)
  return [`${head}  ${code}  ${printable(reason ?? message)}`, ...pointers, ...beneath]
}

/** Returns a line that says how a body was read that is no JSON, since its author may have meant JSON. */
export function formatReading(request: Pick<HookRequest, 'isForm' | 'unwrapped'> | undefined): string[] {
  if (request?.unwrapped !== undefined) return ['  body  read as a form, and its field `payload` as JSON']
  return request?.isForm === true ? ['  body  read as a form: every value is a text'] : []
}

/** JSON has no form for an error. */
export function withoutCause(decision: Decision): object {
  if (!('code' in decision)) return decision
  const { cause: _cause, ...rest } = decision
  return rest
}
