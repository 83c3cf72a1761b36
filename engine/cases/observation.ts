/** Turns a decision into what a test can see of it. */

import type { Action, Decision, FieldError } from '../resolve/model/decision.ts'

export interface Observation {
  readonly outcome: Decision['outcome']
  /** The HTTP status that the gateway would answer. */
  readonly status: number
  readonly code?: string
  /** Reason why it was not accepted. */
  readonly reason?: string
  readonly details?: readonly FieldError[]
  /** The id of the mapping that decided; the ids of several are joined with commas, in order. */
  readonly mapping?: string
  readonly actions: readonly ObservedAction[]
}

/** An action's fields, with its kind as `action` and its mapping; a field that it lacks is undefined. */
export type ObservedAction = Readonly<Record<string, unknown>>

export function observe(decision: Decision, status: number): Observation {
  switch (decision.outcome) {
    case 'accepted': {
      const mappings = new Set(decision.actions.map(({ mapping }) => mapping ?? decision.mapping))
      mappings.delete(undefined)
      const mapping = mappings.size > 0 ? [...mappings].join(', ') : decision.mapping
      return { outcome: 'accepted', status, mapping, actions: observeActions(decision.actions) }
    }
    case 'ignored':
      return { outcome: 'ignored', status, reason: decision.reason, actions: [] }
    case 'skipped':
      return { outcome: 'skipped', status, reason: decision.reason, mapping: decision.mapping, actions: [] }
    default: {
      const { outcome, code, message, reason: given, details, mapping, cause } = decision
      // The cause of a failure is an error of the author's own code, or a bug to report.
      const beneath = outcome === 'failed' && cause instanceof Error ? ` (${cause.message})` : ''
      const reason = given ?? `${message}${beneath}`
      return { outcome, status, code, reason, details, mapping, actions: [] }
    }
  }
}

/** Numbers the actions of each mapping, because the number is that of the element that the action was made for. */
function observeActions(actions: readonly Action[]): ObservedAction[] {
  const counts = new Map<string | undefined, number>()
  return actions.map((action) => {
    const index = counts.get(action.mapping) ?? 0
    counts.set(action.mapping, index + 1)
    return { index, ...observeAction(action) }
  })
}

/** `mode` and `wakeMode` are synonyms, as in mappings; of `coalesce` and `dedupe` a test sees the keys. */
function observeAction(action: Action): ObservedAction {
  if (action.kind === 'wake') {
    const { kind, dedupe, ...fields } = action
    return { action: kind, ...fields, dedupe: dedupe?.key, wakeMode: action.mode }
  }
  const { kind, sessionKeyGiven: _how, busy = 'queue', coalesce, dedupe, ...fields } = action
  const keys = { coalesce: coalesce?.key, dedupe: dedupe?.key }
  return { action: kind, ...fields, ...keys, busy, mode: action.wakeMode }
}
