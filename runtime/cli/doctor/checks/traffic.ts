/** Checks that requests arrive at each endpoint that was set up. */

import type { Configuration, Snapshot } from '@reveille/engine'
import type { RequestRecord } from '../../../store/port.ts'
import { counted } from '../../counted.ts'
import { shortTime } from '../../table.ts'
import { type Check, ok, type Result, warning } from '../check.ts'
import { listed } from '../listed.ts'
import { NotChecked } from '../not-checked.ts'

export const traffic: Check = {
  name: 'traffic',
  group: 'work',
  title: 'traffic',
  async run(subject) {
    const names = endpointsOf(subject.valid())
    if (names.length === 0) return ok('no endpoint but `wake` and `agent`')
    const records = await subject.records()
    const { items, more } = await records.requests()
    return judgeTraffic(names, items, { source: records.source, now: subject.io.now(), more })
  },
}

/** Before there were so many requests in so long, an endpoint without one says nothing about its sender. */
const leastRequests = 10
const leastMs = 86_400_000

/** `more`: there are older requests. */
export function judgeTraffic(
  names: readonly string[],
  requests: readonly RequestRecord[],
  { source, now, more }: { readonly source: string; readonly now: number; readonly more: boolean },
): Result {
  const taken = requests.filter(({ outcome }) => outcome !== 'refused')
  const oldest = taken.at(-1)
  if (oldest === undefined)
    throw new NotChecked('NOTHING_RECEIVED', `nothing was received yet, says ${source}`)
  const silent = unseen(names, new Set(taken.map(({ endpoint }) => endpoint)))
  const since = `${counted(taken.length, 'request')} since ${shortTime(oldest.receivedAt, now)}`
  if (silent.length === 0)
    return ok(`each of ${counted(names.length, 'endpoint')} has some among ${since} (says ${source})`)
  const isEarly = taken.length < leastRequests || (!more && now - oldest.receivedAt < leastMs)
  if (isEarly)
    return ok(
      `nothing for ${listed(silent.map((name) => `/${name}`))} yet; there were ${since} (says ${source})`,
    )
  return warning(
    'NO_TRAFFIC',
    `nothing for ${listed(silent.map((name) => `/${name}`))} among ${since} (says ${source})`,
    'Look at what the sender says about its deliveries, and remove an endpoint that no sender uses',
  )
}

/** Returns the paths of mappings and the names of policies. The built-in endpoints need no set-up and are left out. */
function endpointsOf(good: {
  readonly configuration: Configuration
  readonly snapshot: Snapshot
}): readonly string[] {
  const paths = good.snapshot.mappings.flatMap(({ path }) => path ?? [])
  const all = new Set([...paths, ...Object.keys(good.configuration.endpoints)])
  return [...all].filter((name) => name !== 'wake' && name !== 'agent').sort()
}

/** Returns the names that no requested endpoint matches. A name may have `:param` segments. */
function unseen(names: readonly string[], requested: ReadonlySet<string>): readonly string[] {
  const open = names.filter((name) => !requested.has(name))
  if (!open.some((name) => name.includes(':'))) return open
  const asked = [...requested].map((endpoint) => endpoint.split('/'))
  return open.filter((name) => {
    if (!name.includes(':')) return true
    const segments = name.split('/')
    return !asked.some((endpoint) => matches(endpoint, segments))
  })
}

function matches(endpoint: readonly string[], segments: readonly string[]): boolean {
  return (
    endpoint.length === segments.length &&
    segments.every((segment, index) => segment.startsWith(':') || segment === endpoint[index])
  )
}
