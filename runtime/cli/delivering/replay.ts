/** `reveille replay`: sends deliveries again that are parked. */

import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { type Admin, openAdmin } from '../reading/admin-client.ts'
import { fetchOne, parkedIds } from '../reading/records.ts'
import { shortId } from '../table.ts'
import { addressText } from './delivery-text.ts'

export interface ReplayOptions {
  readonly config?: string
  readonly parked?: boolean
  readonly channel?: string
  readonly json?: boolean
}

type Answer =
  | {
      readonly ok: true
      readonly deliveryId: string
      readonly state: string
      readonly channel: string
      readonly to: string
    }
  | { readonly ok: false; readonly error: string; readonly code: string }

/** Checks that each id names a delivery before it replays the first one. @returns 1 where one of them could not be replayed */
export async function replay(names: readonly string[], options: ReplayOptions, io: Io): Promise<number> {
  const { parked = false, channel, json = false } = options
  if (parked === names.length > 0)
    throw new CommandFailure(2, 'Name the deliveries, or all that are parked: --parked.')
  if (channel !== undefined && !parked) throw new CommandFailure(2, '--channel goes with --parked.')
  const admin = await openAdmin(options, io)
  const ids = parked
    ? await parkedIds(admin, 'deliveries', { channel })
    : await Promise.all(names.map((name) => deliveryIdOf(admin, name)))

  const items: { readonly id: string; readonly answer: Answer }[] = []
  for (const id of new Set(ids)) {
    const answer = (await admin.post(`/api/deliveries/${id}/replay`, {}, [404, 409])) as Answer
    items.push({ id, answer })
    if (json) continue
    if (answer.ok) io.out(`${shortId(id)}: on its way again to ${addressText(answer)}\n`)
    else io.err(`${shortId(id)}: ${answer.error}\n`)
  }
  if (json) {
    const answers = items.map(({ id, answer }) => ({ deliveryId: id, ...answer }))
    io.out(`${JSON.stringify({ items: answers }, null, 2)}\n`)
  } else if (parked) {
    const done = items.filter(({ answer }) => answer.ok).length
    io.out(items.length === 0 ? 'No delivery is parked.\n' : `${counted(done, 'delivery', 'deliveries')}.\n`)
  }
  return items.every(({ answer }) => answer.ok) ? 0 : 1
}

/** @throws CommandFailure that says so where the id is that of a request */
async function deliveryIdOf(admin: Admin, name: string): Promise<string> {
  try {
    return (await fetchOne(admin, 'deliveries', name)).id
  } catch (failure) {
    const isRequest = await fetchOne(admin, 'requests', name).then(
      () => true,
      () => false,
    )
    if (!isRequest) throw failure
    throw new CommandFailure(1, `${name} is a request. Only deliveries can be replayed as yet.`, {
      cause: failure,
    })
  }
}
