/** `reveille replay`: sends deliveries again that are parked. */

import type { Route } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { giveOrder } from '../orders.ts'
import { type Admin, openAdmin } from '../reading/admin-client.ts'
import { fetchOne, parkedIds } from '../reading/records.ts'
import { addressText } from './delivery-text.ts'

interface ReplayOptions extends CommandOptions {
  readonly parked?: boolean
  readonly channel?: string
}

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

  return giveOrder<Route & { readonly ok: true }>(
    admin,
    {
      ids,
      path: (id) => `/api/deliveries/${id}/replay`,
      idName: 'deliveryId',
      describe: (route) => `on its way again to ${addressText(route)}`,
      ...(parked && {
        summary: (answers) =>
          answers.length === 0
            ? 'No delivery is parked.'
            : `${counted(answers.filter(({ ok }) => ok).length, 'delivery', 'deliveries')}.`,
      }),
    },
    json,
    io,
  )
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
