/** `reveille replay`: does requests again, and sends deliveries again that are parked. */

import type { Route } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { giveOrder } from '../orders.ts'
import { type Admin, openAdmin } from '../reading/admin-client.ts'
import { fetchOne, findAny, parkedIds, severalFound } from '../reading/find.ts'
import { type RequestFilterOptions, requestFilterQuery } from '../reading/request-filters.ts'
import { addressText } from './delivery-text.ts'
import { cancelJob, followJob, replayByFilter } from './replay-job.ts'
import { type ReplayTerms, replayRequests } from './replay-requests.ts'

interface ReplayOptions extends CommandOptions, RequestFilterOptions, ReplayTerms {
  readonly failed?: boolean
  readonly parked?: boolean
  readonly channel?: string
  readonly job?: string
  readonly cancel?: string
  readonly wait?: boolean
}

/** Finds what each id names before it replays the first one. @returns 1 where one of them could not be replayed */
export async function replay(names: readonly string[], options: ReplayOptions, io: Io): Promise<number> {
  const { parked = false, channel, job, cancel, failed = false, outcome } = options
  if (failed && outcome !== undefined && outcome !== 'failed')
    throw new CommandFailure(2, '--failed is the same as --outcome failed; give one of the two.')
  const filter = requestFilterQuery(failed ? { ...options, outcome: 'failed' } : options, io)
  const isFiltered = Object.keys(filter).length > 0
  const ways = [names.length > 0, isFiltered, parked, job !== undefined, cancel !== undefined]
  if (ways.filter(Boolean).length !== 1)
    throw new CommandFailure(
      2,
      'Name what to replay: ids, or requests by --failed, --endpoint, --since and the like, or --parked for deliveries.',
    )
  if (channel !== undefined && !parked) throw new CommandFailure(2, '--channel goes with --parked.')
  if (options.payload !== undefined && names.length !== 1)
    throw new CommandFailure(2, '--payload goes with one request.')
  if (job !== undefined) return followJob(job, options, io)
  if (cancel !== undefined) return cancelJob(cancel, options, io)
  if (isFiltered) return replayByFilter(filter, options, io)
  const admin = await openAdmin(options, io)
  return parked
    ? replayDeliveries(admin, await parkedIds(admin, 'deliveries', { channel }), options, io)
    : replayNamed(admin, names, options, io)
}

async function replayNamed(
  admin: Admin,
  names: readonly string[],
  options: ReplayOptions,
  io: Io,
): Promise<number> {
  const found = await Promise.all(names.map((name) => replayable(admin, name)))
  const idsOf = (kind: 'request' | 'delivery') => found.flatMap((each) => (each.kind === kind ? each.id : []))
  const [requests, deliveries] = [idsOf('request'), idsOf('delivery')]
  if (requests.length === 0) return replayDeliveries(admin, deliveries, options, io)
  if (deliveries.length > 0)
    throw new CommandFailure(
      2,
      'Some of these are requests and some are deliveries; replay them one after the other.',
    )
  return replayRequests(admin, requests, options, io)
}

/** A request or a delivery by its id, the end of it, or a sender's own id. @throws CommandFailure */
async function replayable(
  admin: Admin,
  name: string,
): Promise<{ readonly kind: 'request' | 'delivery'; readonly id: string }> {
  const all = (await findAny(admin, name)).flatMap(({ kind, id }) =>
    kind === 'request' || kind === 'delivery' ? [{ kind, id }] : [],
  )
  const [found, other] = all
  if (other !== undefined) throw severalFound(name, all)
  // The words for a text that names nothing are those of the list of deliveries.
  return found ?? { kind: 'delivery', id: (await fetchOne(admin, 'deliveries', name)).id }
}

function replayDeliveries(
  admin: Admin,
  ids: readonly string[],
  { parked = false, json = false, dryRun }: ReplayOptions,
  io: Io,
): Promise<number> {
  if (dryRun) throw new CommandFailure(2, '--dry-run is for requests; a delivery is sent as it is.')
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
