/** Plans the deliveries of a reply: to which recipient, in which lane, or why none. */

import { withoutTokens } from '../../session/ack.ts'
import type { MintId } from '../../store/id.ts'
import type { DeliveryRecord, NewTask, Route, RunRecord } from '../../store/port.ts'
import { deliveryTask } from '../../store/task-keys.ts'
import { names } from '../changes.ts'
import type { DispatchOptions } from '../options.ts'
import { type ConfiguredChannels, type Destination, resolveDestination } from './destination.ts'

interface Facts {
  readonly route: Route | undefined
  readonly channels: ConfiguredChannels
  readonly ackToken: string
  readonly mintId: MintId
  readonly at: number
}

type Deliverable = Pick<RunRecord, 'id' | 'deliver' | 'channel' | 'to' | 'deliverTo' | 'generation'>

/**
 * Returns the deliveries of a reply, none if the run delivers nothing or there is no reply, and one task for each of them that
 * is still to be sent. `open` says whether one is pending or parked, so that its run is not done.
 */
export function planDeliveries(run: Deliverable, reply: string | undefined, facts: Facts) {
  const targets: readonly Route[] = run.deliver && reply !== undefined ? (run.deliverTo ?? [run]) : []
  const plans = targets.map((target) => planDelivery(run, target, reply ?? '', facts))
  const deliveries = plans.map(({ delivery }) => delivery)
  return {
    deliveries,
    tasks: plans.flatMap(({ task }) => task ?? []),
    open: deliveries.some(({ state }) => state === 'pending' || state === 'parked'),
  }
}

function planDelivery(
  run: Deliverable,
  target: Route,
  reply: string,
  facts: Facts,
): { readonly delivery: DeliveryRecord; readonly task?: NewTask } {
  const destination = resolveDestination(target, facts.route, facts.channels)
  const text = withoutTokens(reply, facts.ackToken)
  const silence = reasonToSkip(reply, text)
  const base = {
    id: facts.mintId(),
    runId: run.id,
    channel: destination.channel,
    ...(destination.to === undefined ? {} : { to: destination.to }),
    text: silence ? reply : text,
    receipts: [],
    attempts: 0,
    generation: run.generation,
    createdAt: facts.at,
  }
  if (silence) return { delivery: { ...base, ...silence, state: 'skipped', endedAt: facts.at } }
  if (!destination.ok) {
    const { code, reason } = destination
    return { delivery: { ...base, code, reason, state: 'parked', endedAt: facts.at } }
  }
  return {
    delivery: { ...base, state: 'pending', nextAt: facts.at },
    task: deliveryTask({ id: base.id, channel: base.channel, lane: laneTo(destination), dueAt: facts.at }),
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
export function reportUnsent(
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
