/** Plans the deliveries of a reply: to which recipient, in which lane, or why none. */

import { withoutTokens } from '../../session/ack.ts'
import type { DeliveryRecord, NewTask, Route, RunRecord } from '../../store/port.ts'
import { deliveryTask } from '../../store/task-keys.ts'
import { names } from '../changes.ts'
import type { DispatchOptions } from '../options.ts'
import { type Destination, resolveDestination } from './destination.ts'

type PlanOptions = Pick<DispatchOptions, 'channel' | 'current' | 'mintId' | 'log' | 'observer'>

interface Reply {
  /** Undefined: there is none, or it is delivered elsewhere. */
  readonly text: string | undefined
  /** The last route. */
  readonly route: Route | undefined
  readonly at: number
}

/**
 * Returns the deliveries of a reply, none if the run delivers nothing or there is no reply, and one task for each of them that
 * is still to be sent. `open` says whether one is pending or parked, so that its run is not done. Those that are not even tried are reported.
 */
export function planDeliveries(options: PlanOptions, run: RunRecord, { text, route, at }: Reply) {
  const targets: readonly Route[] = run.deliver && text !== undefined ? (run.deliverTo ?? [run]) : []
  const plans = targets.map((target) => planDelivery(options, run, target, { text, route, at }))
  const deliveries = plans.map(({ delivery }) => delivery)
  for (const delivery of deliveries) reportUnsent(options, run, delivery)
  return {
    deliveries,
    tasks: plans.flatMap(({ task }) => task ?? []),
    open: deliveries.some(({ state }) => state === 'pending' || state === 'parked'),
  }
}

function planDelivery(
  { channel, current, mintId }: PlanOptions,
  run: RunRecord,
  target: Route,
  { text: reply = '', route, at }: Reply,
): { readonly delivery: DeliveryRecord; readonly task?: NewTask } {
  const { channels, agents } = current().snapshot.settings
  const destination = resolveDestination(target, route, { channel, channels })
  const text = withoutTokens(reply, agents.defaults.heartbeat.ackToken)
  const silence = reasonToSkip(reply, text)
  const base = {
    id: mintId(),
    runId: run.id,
    channel: destination.channel,
    ...(destination.to === undefined ? {} : { to: destination.to }),
    text: silence ? reply : text,
    receipts: [],
    attempts: 0,
    generation: run.generation,
    createdAt: at,
  }
  if (silence) return { delivery: { ...base, ...silence, state: 'skipped', endedAt: at } }
  if (!destination.ok) {
    const { code, reason } = destination
    return { delivery: { ...base, code, reason, state: 'parked', endedAt: at } }
  }
  return {
    delivery: { ...base, state: 'pending', nextAt: at },
    task: deliveryTask({ id: base.id, channel: base.channel, lane: laneTo(destination), dueAt: at }),
  }
}

/** `text` is what remains of the reply without acknowledgement tokens. */
function reasonToSkip(reply: string, text: string): { code: string; reason: string } | undefined {
  if (reply.trim() === '') return { code: 'BLANK_REPLY', reason: 'the reply is blank' }
  return text.trim() === ''
    ? { code: 'ACK_ONLY', reason: 'the reply is only the acknowledgement' }
    : undefined
}

/** A recipient gets its replies in order, and two recipients never wait for each other. */
export function laneTo(destination: Extract<Destination, { ok: true }>): string {
  return `channel:${destination.channel}:${destination.target.key}`
}

/** Reports a delivery that is not even tried. */
function reportUnsent(
  { log, observer }: Pick<DispatchOptions, 'log' | 'observer'>,
  run: RunRecord,
  delivery: DeliveryRecord,
): void {
  const { id: deliveryId, state, channel, to, code = 'NO_ROUTE', reason = '' } = delivery
  const facts = { deliveryId, ...names(run), channel, to, code, reason }
  if (state === 'skipped' || state === 'parked')
    observer?.deliveryEnded?.(delivery, state, { code, reason }, run)
  if (state === 'skipped') log.info({ event: 'delivery-skipped', ...facts }, 'nothing to deliver')
  if (state === 'parked') log.warn({ event: 'delivery-parked', ...facts }, 'delivery parked')
}
