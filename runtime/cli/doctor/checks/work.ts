/** Checks the work of a gateway: what arrives, what waits, and what cannot be sent. */

import { coversPath } from '@reveille/engine'
import type { Io } from '../../io.ts'
import { commandLine, counted, listed, shortTime } from '../../print.ts'
import { heartbeatText, holdText, nextSteps, type SourceStatus } from '../../status-text.ts'
import { type Check, ok, orOk, problem, type Result, warning } from '../check.ts'
import type { DoctorContext } from '../context.ts'
import { NotChecked } from '../gateway-view.ts'

export const workChecks: readonly Check[] = [
  { name: 'traffic', group: 'work', title: 'traffic', run: traffic },
  { name: 'sources', group: 'work', title: 'sources', run: sources },
  { name: 'parked', group: 'work', title: 'parked', run: parked },
  { name: 'channels', group: 'work', title: 'channels', run: channels },
  { name: 'main-session', group: 'work', title: 'main session', run: mainSession },
  { name: 'issues', group: 'work', title: 'issues', run: issues },
  { name: 'backlog', group: 'work', title: 'backlog', run: backlog },
]

/** Before there were so many requests in so long, an endpoint without one says nothing about its sender. */
const minRequests = 10
const minMs = 86_400_000

/** Checks that requests arrive at each endpoint that was set up. */
async function traffic(subject: DoctorContext) {
  const names = endpointsOf(subject.valid())
  if (names.length === 0) return ok('no endpoint but `wake` and `agent`')
  const { source, requests } = await subject.records()
  const { items, more } = await requests()
  const accepted = items.filter(({ outcome }) => outcome !== 'refused')
  const oldest = accepted.at(-1)
  if (oldest === undefined)
    throw new NotChecked('NOTHING_RECEIVED', `nothing was received yet, says ${source}`)
  const now = subject.io.now()
  const seen = new Set(accepted.map(({ endpoint }) => endpoint))
  const silent = names.filter((name) => !isSeen(name, seen)).map((name) => `/${name}`)
  const since = `${counted(accepted.length, 'request')} since ${shortTime(oldest.receivedAt, now)}`
  if (silent.length === 0)
    return ok(`each of ${counted(names.length, 'endpoint')} has some among ${since} (says ${source})`)
  const isEarly = accepted.length < minRequests || (!more && now - oldest.receivedAt < minMs)
  if (isEarly) return ok(`nothing for ${listed(silent)} yet; there were ${since} (says ${source})`)
  return warning(
    'NO_TRAFFIC',
    `nothing for ${listed(silent)} among ${since} (says ${source})`,
    'Look at what the sender says about its deliveries, and remove an endpoint that no sender uses',
  )
}

/** Returns the paths of mappings and the names of policies. The built-in endpoints need no set-up and are left out. */
function endpointsOf({ snapshot, configuration }: ReturnType<DoctorContext['valid']>): readonly string[] {
  const paths = snapshot.mappings.flatMap(({ path }) => path ?? [])
  const all = new Set([...paths, ...Object.keys(configuration.endpoints)])
  return [...all].filter((name) => name !== 'wake' && name !== 'agent').sort()
}

/** True if a request came. A name may have `:param` segments. */
function isSeen(name: string, seen: ReadonlySet<string>): boolean {
  return seen.has(name) || (name.includes(':') && [...seen].some((endpoint) => coversPath(name, endpoint)))
}

const codes = {
  failing: 'SOURCE_FAILING',
  waiting: 'SOURCE_WAITING',
  'held-elsewhere': 'SOURCE_HELD_ELSEWHERE',
  stopped: 'SOURCE_STOPPED',
} as const

/** Checks that every source fetches events, and that the gateway accepts them. */
async function sources(subject: DoctorContext) {
  const { sources } = await subject.gateway().status()
  const names = sources.map(({ source }) => source)
  const all =
    names.length === 0 ? 'none is configured' : `${listed(names)} ${names.length === 1 ? 'works' : 'work'}`
  return orOk(
    sources.flatMap((each) => assessSource(each, subject.io)),
    all,
  )
}

/** Returns nothing where all is well. The kit counts events that are tried again as `refused`. */
export function assessSource(
  { source, state, detail, counts }: SourceStatus,
  io: Pick<Io, 'env' | 'config'>,
): Result[] {
  if (state !== 'working' && state !== 'starting')
    return [warning(codes[state], `${source}: ${detail.replace(/\.$/, '')}`)]
  const refused = counts?.['refused'] ?? 0
  if (refused === 0) return []
  const text = `${source}: the gateway refused ${refused.toLocaleString('en')} of what it brought, which is tried again`
  return [warning('SOURCE_REFUSED', text, `${commandLine('requests --outcome refused', io)} says why`)]
}

/** Checks that no run or delivery waits for the operator's decision. */
async function parked({ records, io }: DoctorContext) {
  const { source, parkedRuns, openDeliveries } = await records()
  const [runs, open] = await Promise.all([parkedRuns(), openDeliveries()])
  const deliveries = open.reduce((sum, { parked }) => sum + parked, 0)
  const waiting = [
    [
      'PARKED_RUNS',
      'runs that wait for a decision',
      `${runs.count}${runs.more ? '+' : ''}`,
      'runs',
      'resume --all',
      'queues',
    ],
    [
      'PARKED_DELIVERIES',
      'replies that could not be sent',
      `${deliveries}`,
      'deliveries',
      'replay --parked',
      'sends',
    ],
  ] as const
  const found = waiting.flatMap(([code, what, count, list, command, does]) => {
    if (count === '0') return []
    const fix = `${commandLine(`${list} --state parked`, io)} says why, ${commandLine(command, io)} ${does} them again`
    return [warning(code, `${what}: ${count} (says ${source})`, fix)]
  })
  return orOk(found, `no run and no delivery (says ${source})`)
}

/** Checks that replies can be sent: no channel is held, and no reply waits for one that is not configured. */
async function channels({ gateway, io }: DoctorContext) {
  const { channels } = await gateway().status()
  const names = channels.map(({ channel }) => channel)
  const all =
    names.length === 0 ? 'none is configured' : `${listed(names)} ${names.length === 1 ? 'is' : 'are'} open`
  const held = channels
    .filter(({ state }) => state !== 'open')
    .map((status) => {
      const [step] = nextSteps([{ ...status, parked: 0 }], io)
      const waits = status.pending > 0 ? `; ${counted(status.pending, 'reply', 'replies')} wait` : ''
      return warning('CHANNEL_HELD', `${holdText(status, io.now())}${waits}`, step)
    })
  return orOk(held, all)
}

/** Checks that the turns of the main session do not keep failing. */
async function mainSession({ gateway, io }: DoctorContext) {
  const { heartbeat } = await gateway().status()
  if (heartbeat === null) throw new NotChecked('GATEWAY_ANSWER', 'the gateway does not report it')
  const text = heartbeatText(heartbeat, io.now())
  if (heartbeat.state !== 'failing') return ok(text)
  return warning('MAIN_SESSION_FAILING', text, `${commandLine('runs --kind heartbeat', io)} says why`)
}

/** Checks that no issue is open. Runs that have failed are known from these alone. */
async function issues({ gateway, io }: DoctorContext) {
  const { issues: counts } = await gateway().status()
  if (counts === null) throw new NotChecked('GATEWAY_ANSWER', 'the gateway does not report them')
  return assessIssues(counts, commandLine('issues', io))
}

/** Judges the number of open issues of each severity. */
export function assessIssues(counts: Readonly<Record<string, number>>, command: string): Result {
  const open = Object.entries(counts).filter(([, count]) => count > 0)
  if (open.length === 0) return ok('none open')
  const text = open.map(([severity, count]) => `${count} ${severity}`).join(', ')
  return warning('OPEN_ISSUES', text, `${command} names the cause and the next step of each`)
}

/** The share of the limit from which a warning is due. */
const crowdedFrom = 0.8

/** Checks how full the backlog is. */
async function backlog({ records, io }: DoctorContext) {
  const { source, backlog } = await records()
  return assessBacklog(await backlog(), source, `${commandLine('status', io)} says what waits`)
}

export function assessBacklog(
  { waiting, limit }: { readonly waiting: number; readonly limit: number },
  source: string,
  fix: string,
): Result {
  const text = `${waiting.toLocaleString('en')} of ${limit.toLocaleString('en')} places taken (says ${source})`
  if (waiting >= limit) return problem('BACKLOG_FULL', `${text}: agent requests are answered 503`, fix)
  return waiting >= limit * crowdedFrom ? warning('BACKLOG_NEARLY_FULL', text, fix) : ok(text)
}
