/** `reveille status`: shows whether a running gateway can accept requests, and what waits in it. */

import type { ItemOf } from '../../api/routes/client.ts'
import { type Client, openClient } from '../client.ts'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import { formatSummary, print, shortId, shortTime } from '../print.ts'
import type { GenerationItem } from '../records/generations.ts'
import { addressText, budgetText, differences } from '../status-text.ts'

/** The size of one page; a larger count of events is shown as `500+`. */
const pageOfCount = 500

/** @returns 1 where the gateway does not accept requests */
export async function status(io: Io): Promise<number> {
  const client = await openClient(io)
  const probe = await client.probe('/readyz')
  const ready = probe.status === 200
  const health = ready ? undefined : await client.ask('readHealth')
  const reason = ready
    ? undefined
    : (health?.reason ?? probe.body?.['reason'] ?? `it answered ${probe.status}`)
  const { items } = await client.ask('listIssues', { query: { limit: 1, state: 'open' } }).catch(nothing)
  const found = { address: client.address, ready, reason, worst: items[0] ?? null, ...(await look(client)) }
  return print(io, found, () => formatSummary(factsOf(found, io.now()), io.now()), ready ? 0 : 1)
}

const nothing = () => ({ items: [] as never[] })

/** What a gateway whose store cannot be read does not know is left out. */
async function look(client: Client) {
  try {
    const [main, generations, latest, route, events] = await Promise.all([
      client.ask('readStatus'),
      client.ask('listGenerations', { query: { limit: pageOfCount } }),
      client.ask('listRequests', { query: { limit: 1 } }),
      client.ask('readRoute'),
      client.ask('listEvents', { query: { state: 'pending', limit: pageOfCount } }),
    ])
    const one = (which: (item: GenerationItem) => unknown) =>
      generations.items.filter(which).map(withoutLists)[0] ?? null
    return {
      generation: one(({ state }) => state === 'live'),
      /** The files as they are now, where they were refused. */
      refused: one(({ isCurrent }) => isCurrent),
      ...main,
      route: route.route,
      standIn: route.standIn,
      pendingEvents: `${events.items.length}${events.next === undefined ? '' : '+'}`,
      latestRequest: latest.items[0] ?? null,
    }
  } catch (error) {
    if (error instanceof CommandFailure && error.cause === 503) return { records: 'cannot be read' }
    throw error
  }
}

type Found = Awaited<ReturnType<typeof look>> & {
  readonly worst: ItemOf<'listIssues'> | null
}

/** The same for people: ids short, and a line for what is most of interest about a record. */
function factsOf({ worst, ...found }: Found, now: number): object {
  const { severity, key, next } = worst ?? {}
  const facts = {
    worst: worst && `${severity}: ${key}`,
    next: next && [next.label, next.command && `\`${next.command}\``].filter(Boolean).join(': '),
    ...found,
  }
  if (!('latestRequest' in found)) return facts
  const { budgets, nodes, latestRequest: latest, route, standIn, generation, refused } = found
  return {
    ...facts,
    generation: generation && forPeople(generation),
    refused: refused && forPeople(refused),
    day: undefined,
    budgets: budgets.map(budgetText),
    nodes:
      nodes.length > 1 ? nodes.map(({ id, name, ...node }) => ({ node: name || id, ...node })) : undefined,
    differ: differences(nodes),
    route: route ? addressText(route) : 'none',
    standIn: standIn && addressText(standIn),
    latestRequest: latest
      ? [shortTime(latest.receivedAt, now), latest.endpoint, latest.outcome, shortId(latest.id)].join('  ')
      : 'none yet',
  }
}

/** A generation without what tells machines that two of them are alike. */
function forPeople({
  digest: _digest,
  state: _state,
  tookMs: _tookMs,
  ...item
}: ReturnType<typeof withoutLists>) {
  return item
}

/** A generation without its lists of changes and diagnostics, which `reveille generations` has. */
function withoutLists({ changes: _changes, diagnostics, ...item }: GenerationItem) {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  return { ...item, errors, warnings: diagnostics.length - errors }
}
