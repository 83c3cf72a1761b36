/** Checks the work of a gateway: what arrives, what waits, and what cannot be sent. */

import { type Configuration, coversPath, type Snapshot } from '@reveille/engine'
import type { SourceState } from '../../../sources/index.ts'
import type { RequestRecord } from '../../../store/port.ts'
import type { Io } from '../../io.ts'
import { pasted } from '../../pasted.ts'
import { counted, listed, shortTime } from '../../print.ts'
import { heartbeatText, holdText, nextSteps } from '../../status-text.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { NotChecked } from '../not-checked.ts'
import type { Subject } from '../subject.ts'

export const workChecks: readonly Check[] = [
  { name: 'traffic', group: 'work', title: 'traffic', run: traffic },
  { name: 'sources', group: 'work', title: 'sources', run: sources },
  { name: 'parked', group: 'work', title: 'parked', run: parked },
  { name: 'channels', group: 'work', title: 'channels', run: channels },
  { name: 'main-session', group: 'work', title: 'main session', run: mainSession },
  { name: 'backlog', group: 'work', title: 'backlog', run: backlog },
]

/** Checks that requests arrive at each endpoint that was set up. */
async function traffic(subject: Subject) {
  const names = endpointsOf(subject.valid())
  if (names.length === 0) return ok('no endpoint but `wake` and `agent`')
  const records = await subject.records()
  const { items, more } = await records.requests()
  return judgeTraffic(names, items, { source: records.source, now: subject.io.now(), more })
}

/** Before there were so many requests in so long, an endpoint without one says nothing about its sender. */
const minRequests = 10
const minMs = 86_400_000

/** `more`: there are older requests. */
function judgeTraffic(
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
  const isEarly = taken.length < minRequests || (!more && now - oldest.receivedAt < minMs)
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
  const asked = [...requested]
  return names.filter(
    (name) =>
      !requested.has(name) && !(name.includes(':') && asked.some((endpoint) => coversPath(name, endpoint))),
  )
}

const codes = {
  failing: 'SOURCE_FAILING',
  waiting: 'SOURCE_WAITING',
  'held-elsewhere': 'SOURCE_HELD_ELSEWHERE',
  stopped: 'SOURCE_STOPPED',
} as const

/** Checks that every source fetches events, and that the gateway accepts them. */
async function sources(subject: Subject) {
  // A gateway of an earlier version reports no sources.
  const { sources = [] } = await subject.gateway().status()
  if (sources.length === 0) return ok('none is configured')
  const results = sources.flatMap((each) => judgeSource(each, subject.io))
  const names = sources.map(({ source }) => source)
  return results.length > 0 ? results : ok(`${listed(names)} ${names.length === 1 ? 'works' : 'work'}`)
}

/** Returns nothing where all is well. The kit counts events that are tried again as `refused`. */
export function judgeSource(
  { source, state, detail, counts }: Pick<SourceState, 'source' | 'state' | 'detail' | 'counts'>,
  io: Pick<Io, 'env' | 'config'>,
): Result[] {
  if (state !== 'working' && state !== 'starting') {
    return [warning(codes[state], `${source}: ${detail.replace(/\.$/, '')}`)]
  }
  const refused = counts?.['refused'] ?? 0
  if (refused === 0) return []
  const text = `${source}: the gateway refused ${refused.toLocaleString('en')} of what it brought, which is tried again`
  return [warning('SOURCE_REFUSED', text, `${pasted('requests --outcome refused', io)} says why`)]
}

/** Checks that no run or delivery waits for the operator's decision. */
async function parked(subject: Subject) {
  const records = await subject.records()
  const [runs, open] = await Promise.all([records.parkedRuns(), records.openDeliveries()])
  const deliveries = open.reduce((sum, { parked }) => sum + parked, 0)
  const results: Result[] = []
  if (runs.count > 0) {
    const many = `${runs.count}${runs.more ? '+' : ''}`
    results.push(
      warning(
        'PARKED_RUNS',
        `runs that wait for a decision: ${many} (says ${records.source})`,
        `${pasted('runs --state parked', subject.io)} says why, ${pasted('resume --all', subject.io)} queues them again`,
      ),
    )
  }
  if (deliveries > 0) {
    results.push(
      warning(
        'PARKED_DELIVERIES',
        `replies that could not be sent: ${deliveries} (says ${records.source})`,
        `${pasted('deliveries --state parked', subject.io)} says why, ${pasted('replay --parked', subject.io)} sends them again`,
      ),
    )
  }
  return results.length > 0 ? results : ok(`no run and no delivery (says ${records.source})`)
}

/** Checks that replies can be sent: no channel is held, and no reply waits for one that is not configured. */
async function channels(subject: Subject) {
  const { channels } = await subject.gateway().status()
  const held = channels.filter(({ state }) => state !== 'open')
  if (held.length === 0) {
    const names = channels.map(({ channel }) => channel)
    return ok(
      names.length === 0
        ? 'none is configured'
        : `${listed(names)} ${names.length === 1 ? 'is' : 'are'} open`,
    )
  }
  return held.map((status): Result => {
    const steps = nextSteps([{ ...status, parked: 0 }], subject.io)
    const waits = status.pending > 0 ? `; ${counted(status.pending, 'reply', 'replies')} wait` : ''
    return warning('CHANNEL_HELD', `${holdText(status, subject.io.now())}${waits}`, steps[0])
  })
}

/** Checks that the turns of the main session do not keep failing. */
async function mainSession(subject: Subject) {
  const { heartbeat } = await subject.gateway().status()
  if (heartbeat === null) throw new NotChecked('GATEWAY_ANSWER', 'the gateway does not report it')
  const text = heartbeatText(heartbeat, subject.io.now())
  if (heartbeat.state !== 'failing') return ok(text)
  return warning('MAIN_SESSION_FAILING', text, `${pasted('runs --kind heartbeat', subject.io)} says why`)
}

/** The share of the limit from which a warning is due. */
const crowdedFrom = 0.8

/** Checks how full the backlog is. */
async function backlog(subject: Subject) {
  const records = await subject.records()
  return judgeBacklog(
    await records.backlog(),
    records.source,
    `${pasted('status', subject.io)} says what waits`,
  )
}

export function judgeBacklog(
  { waiting, limit }: { readonly waiting: number; readonly limit: number },
  source: string,
  fix: string,
): Result {
  const text = `${waiting.toLocaleString('en')} of ${limit.toLocaleString('en')} places taken (says ${source})`
  if (waiting >= limit) return problem('BACKLOG_FULL', `${text}: agent requests are answered 503`, fix)
  return waiting >= limit * crowdedFrom ? warning('BACKLOG_NEARLY_FULL', text, fix) : ok(text)
}
