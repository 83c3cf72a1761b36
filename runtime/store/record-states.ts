/** The states of records. */

export const requestOutcomes = [
  'accepted',
  'ignored',
  'skipped',
  'duplicate',
  'handshake',
  'failed',
  'refused',
] as const
export type RequestOutcome = (typeof requestOutcomes)[number]

export const runStates = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed-out',
  'cancelled',
  'parked',
] as const
export type RunState = (typeof runStates)[number]

/** A run at `cancelled` ended before it was performed, and reached none of the later stages. */
export const runStages = ['accepted', 'running', 'ran', 'summarised', 'delivered', 'cancelled'] as const

export const eventStates = ['pending', 'consumed'] as const

export const deliveryStates = ['pending', 'delivered', 'skipped', 'parked'] as const

/**
 * Severities, the worst first. `losing-events`: events are lost, or not received. `failing`: accepted work fails or
 * waits for an operator. `degraded`: it works, with less than was asked for. `suspicious`: it may be harmless, and is worth a look.
 */
export const severities = ['losing-events', 'failing', 'degraded', 'suspicious'] as const
export type Severity = (typeof severities)[number]
