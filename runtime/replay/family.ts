/** Reads an original with all its replays, and finds what became of their replies. */

import { pagesOf } from '../store/pages.ts'
import type { DeliveryRecord, Id, Reader, RequestRecord, RunRecord } from '../store/port.ts'

/** An original and its replays. */
export interface Family {
  readonly original: Id
  /** The original first, if it is still there; then its replays, the newest first. */
  readonly members: readonly RequestRecord[]
  /** True if the original caused runs or events, or was a duplicate of a request that did. */
  readonly hadEffect: boolean
}

type Read = Pick<Reader, 'request' | 'requests' | 'run' | 'delivery'>

export async function readFamily(read: Read, record: RequestRecord): Promise<Family> {
  const original = record.replayOf ?? record.id
  const first = record.replayOf === undefined ? record : await read.request(original)
  const members = first === undefined ? [] : [first]
  for await (const replays of pagesOf((page) => read.requests({ replayOf: original, ...page })))
    members.push(...replays)
  return { original, members, hadEffect: first !== undefined && hasEffect(first) }
}

export function hasEffect({ outcome }: RequestRecord): boolean {
  return outcome === 'accepted' || outcome === 'duplicate'
}

/**
 * Says in one sentence why no reply of a further replay goes out: one has, or may have, or may yet. Undefined where none did and
 * none can.
 */
export async function whyUndelivered(read: Read, { members }: Family): Promise<string | undefined> {
  const actions = members.flatMap(({ actions }) => actions)
  const runs = new Set(actions.flatMap(({ kind, id }) => (kind === 'agent' ? [id] : [])))
  for (const id of runs) {
    const fate = await fateOfReply(read, id)
    if (fate !== undefined) return `its reply is not delivered again: ${fate}`
  }
  return undefined
}

async function fateOfReply(read: Read, id: Id): Promise<string | undefined> {
  const run = await read.run(id)
  if (run === undefined) return `run ${id} is no longer kept, and its reply may have been delivered`
  if (run.deliver && isOpen(run)) return `run ${id} is ${run.state}, and may deliver its reply yet`
  if (run.deliver && run.handedOver !== undefined)
    return `run ${id} was handed over to another system, which may have delivered its reply`
  for (const deliveryId of run.deliveryIds) {
    const delivery = await read.delivery(deliveryId)
    const fate = delivery === undefined ? 'may have been delivered' : fateOfDelivery(delivery)
    if (fate !== undefined) return `the reply of run ${id} ${fate}`
  }
  return undefined
}

/** True if the turn of the run is still to come, or may be. */
function isOpen({ state }: RunRecord): boolean {
  return state === 'queued' || state === 'running' || state === 'parked'
}

function fateOfDelivery({ state, receipts, unsureSince }: DeliveryRecord): string | undefined {
  if (state === 'delivered') return 'was delivered'
  if (state === 'pending') return 'is on its way'
  return receipts.length > 0 || unsureSince !== undefined ? 'may have arrived' : undefined
}
