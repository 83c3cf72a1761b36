/** Follows what the gateway does after it has accepted: runs, deliveries, channels, budgets, sources and reloads. */

import { dirname } from 'node:path'
import type { CurrentLive, Diagnostic, Live, ReloadEvent, Snapshot } from '@reveille/engine'
import { formatPlace } from '@reveille/engine/text'
import { isConfiguredName } from '../configured-names.ts'
import type { BudgetAlarm, BudgetKey, DispatchObserver, RunnerState } from '../dispatch/index.ts'
import { catchUpSource, type SourceState } from '../sources/index.ts'
import { dayOf } from '../store/day.ts'
import { pagesOf } from '../store/pages.ts'
import type { Reader, RunError, RunRecord } from '../store/port.ts'
import { type IssueCode, type IssueCodeRow, issueCodes, quietMs } from './codes.ts'
import { type Ledger, type Problem, withoutFullStop } from './ledger.ts'

export interface WorkWatchOptions {
  readonly ledger: Ledger
  readonly current: CurrentLive
  readonly read: Pick<Reader, 'runs' | 'openDeliveries'>
  readonly now: () => number
  /** Subject of the issue of refused files. Default: `files`. */
  readonly files?: string
  /** True if this process resolves issues whose subject left the configuration. Default: it does. */
  readonly leads?: () => boolean
}

/** The number of parked runs among which those of an issue are searched. */
const maxParked = 100

export function createWorkWatch(options: WorkWatchOptions) {
  const { ledger, current, read, now, leads = () => true } = options
  /** The day (UTC) of the last alarm of each budget. */
  const alarmedOn = new Map<BudgetKey, string>()

  const working = new Set<string>()

  /** Ends the issues about what the configuration no longer has, and about sources that work. */
  function endGone(): void {
    for (const source of working) ledger.resolve('SOURCE_STOPPED', source)
    if (!leads()) return
    const { snapshot } = current()
    for (const { code, subject } of ledger.open())
      if (!isConfigured(issueCodes[code].about, subject, snapshot)) ledger.resolve(code, subject)
  }

  /** Ends alarms with their day (UTC). The alarm of an earlier process may be of today. */
  function endAlarms(): void {
    const today = dayOf(now())
    for (const subject of openSubjects('BUDGET_ALARM')) {
      const day = alarmedOn.get(subject) ?? today
      alarmedOn.set(subject, day)
      if (day !== today) ledger.resolve('BUDGET_ALARM', subject)
    }
  }

  function openSubjects(wanted: IssueCode): string[] {
    return ledger.open().flatMap(({ code, subject }) => (code === wanted ? [subject] : []))
  }

  /** Ends the issues of parked runs that an operator has dealt with. Loops of an endpoint have none, and end with their hour. */
  async function endParkedRuns(): Promise<void> {
    const open = (['LOOP', 'BUDGET_SPENT', 'NO_PRICE'] as const).flatMap((code) =>
      openSubjects(code)
        .filter((subject) => !subject.startsWith('/'))
        .map((subject) => ({ code, subject })),
    )
    if (open.length === 0) return
    const { items } = await read.runs({ state: 'parked', limit: maxParked })
    for (const { code, subject } of open)
      if (!items.some((run) => isParkedFor(code, subject, run))) ledger.resolve(code, subject)
  }

  async function endFailures(): Promise<void> {
    const failing = openSubjects('RUNNER_FAILS')
    if (failing.length === 0) return
    const failed = await failedRunners(read, now() - quietMs)
    for (const runner of failing) if (!failed.has(runner)) ledger.resolve('RUNNER_FAILS', runner)
  }

  async function endParkedDeliveries(): Promise<void> {
    const open = openSubjects('DELIVERIES_PARKED')
    if (open.length === 0) return
    const channels = await read.openDeliveries()
    for (const subject of open)
      if (!channels.some(({ channel, parked }) => channel === subject && parked > 0))
        ledger.resolve('DELIVERIES_PARKED', subject)
  }

  return {
    observer: createObserver(options, alarmedOn),
    sourceChanged(state: SourceState): void {
      if (state.state === 'working') {
        working.add(state.source)
        ledger.resolve('SOURCE_STOPPED', state.source)
      } else working.delete(state.source)
      if (stoppedStates.has(state.state)) ledger.note(sourceStopped(state))
    },
    reloaded(event: ReloadEvent): void {
      if (event.type === 'snapshot-swapped') endGone()
      noteReload(options, event)
    },
    endGone,
    /** Ends what ends without an event. */
    async sweep(): Promise<void> {
      endAlarms()
      await endParkedRuns()
      await endFailures()
      await endParkedDeliveries()
    },
  }
}

function noteReload({ ledger, current, files = 'files' }: WorkWatchOptions, event: ReloadEvent): void {
  if (event.type === 'snapshot-swapped' || event.type === 'content-unchanged')
    ledger.resolve('RELOAD_REFUSED', files)
  if (event.type !== 'candidate-rejected' || event.rollbackTo !== undefined) return
  const refused = reloadRefused(files, event.diagnostics, current())
  if (refused !== undefined) ledger.note(refused)
}

const stoppedStates: ReadonlySet<SourceState['state']> = new Set(['failing', 'waiting', 'held-elsewhere'])

/** Opens and ends issues with what dispatch reports. */
function createObserver(
  { ledger, current, now }: WorkWatchOptions,
  alarmedOn: Map<BudgetKey, string>,
): DispatchObserver {
  /** The main session itself runs on it, and can do nothing about its failure. */
  const isSilent = (runner: string) => current().snapshot.settings.agents.defaults.runner === runner
  const since = () => new Date(now() - quietMs).toISOString()
  return {
    runEnded(run, result) {
      if (result.state === 'succeeded') {
        ledger.resolve('RUNNER_HELD', run.runner)
        ledger.resolve('TIMEOUTS', subjectOf(run))
      } else if (result.state === 'timed-out') ledger.note(timeouts(run))
      else if (result.state === 'failed' && result.error.code !== 'INTERRUPTED') {
        const failure = { code: result.error.code, reason: result.reason }
        const label = `See how the newest failed (${run.id}), fix that, then retry the failed runs`
        ledger.note({ ...runnerFails(run.runner, failure, since, label), isSilent: isSilent(run.runner) })
      }
    },
    runParked(run, error, budget) {
      if (error.code === 'LOOP') ledger.note(loop(run, error))
      else if (error.code === 'NO_PRICE') ledger.note(noPrice(run, error))
      else if (budget !== undefined) {
        // It is worse than much of it being spent.
        ledger.resolve('BUDGET_ALARM', budget)
        ledger.note(budgetSpent(budget, error))
      }
    },
    budgetAlarmed(alarm) {
      alarmedOn.set(alarm.key, alarm.day)
      ledger.note(budgetAlarm(alarm))
    },
    heartbeatEnded({ runner, id }, failure) {
      if (failure === undefined) return
      const label = `See how the newest failed (${id}), and fix that. Heartbeats are tried again automatically; retry other failed runs`
      ledger.note({ ...runnerFails(runner, failure, since, label), isSilent: isSilent(runner) })
    },
    deliveryEnded({ channel, to }, state, reason) {
      if (state === 'delivered') {
        ledger.resolve('CHANNEL_REFUSES', channel)
      } else if (state === 'parked' && reason !== undefined)
        ledger.note(deliveriesParked(channel, to, reason))
    },
    runnerChanged(changed) {
      if (changed.state === 'open') ledger.resolve('RUNNER_HELD', changed.runner)
      else ledger.note({ ...runnerHeld(changed, since), isSilent: isSilent(changed.runner) })
    },
    channelChanged({ channel, state, ...why }) {
      if (state === 'open') ledger.resolve('CHANNEL_REFUSES', channel)
      else if (state === 'held' && 'code' in why) ledger.note(channelRefuses(channel, why.code, why.reason))
    },
    channelChecked({ channel, ok, code, detail }) {
      if (!ok) ledger.note(channelRefuses(channel, code, detail))
    },
  }
}

interface Failure {
  readonly code: string
  readonly reason: string
}

/** `label` is the next step. */
function runnerFails(runner: string, { code, reason }: Failure, since: () => string, label: string): Problem {
  const describe = () => ({
    cause: `Runs of the runner "${runner}" fail with ${code}: ${withoutFullStop(reason)}.`,
    label,
    ...retryOf(runner, since()),
  })
  return { code: 'RUNNER_FAILS', subject: runner, describe }
}

function runnerHeld(
  { runner, code, reason }: Extract<RunnerState, { state: 'held' }>,
  since: () => string,
): Problem {
  const describe = () => ({
    cause: `Runs of the runner "${runner}" wait, and none is lost, because it is unavailable: ${code}: ${withoutFullStop(reason)}.`,
    label: 'Fix the cause. One run retries periodically; this command retries at once',
    ...retryOf(runner, since()),
  })
  return { code: 'RUNNER_HELD', subject: runner, describe }
}

function retryOf(runner: string, since: string) {
  return {
    command: `reveille retry --runner ${runner} --since 7d`,
    action: { method: 'POST', path: '/api/runs/retry', body: { runner, since } },
  } as const
}

function timeouts(run: RunRecord): Problem {
  const describe = () => ({
    cause: `Runs of ${nameOf(run)} time out after ${run.timeoutSeconds} s (runner ${run.runner}).`,
    label: 'See what the newest of them did, and raise `timeoutSeconds` if that takes longer',
    command: `reveille runs ${run.id}`,
  })
  return { code: 'TIMEOUTS', subject: subjectOf(run), describe }
}

function loop(run: RunRecord, { message }: RunError): Problem {
  const describe = () => ({
    cause: `Runs of ${nameOf(run)} are parked because a loop is suspected: ${withoutFullStop(message)}.`,
    label: 'See what causes the runs; end this one, or resume it if intended',
    command: `reveille cancel ${run.id}`,
    action: { method: 'POST', path: `/api/runs/${run.id}/cancel` } as const,
  })
  return { code: 'LOOP', subject: subjectOf(run), describe }
}

/** About the runner, as a sender may have chosen the model. */
function noPrice({ runner }: RunRecord, { code, message }: RunError): Problem {
  const describe = () => ({
    cause: `Runs are parked because a budget is in USD and their price is unknown: ${withoutFullStop(message)}.`,
    label: 'Fix that, then resume the parked runs',
    command: `reveille resume --all --code ${code}`,
    action: { method: 'POST', path: '/api/runs/resume', body: { code } } as const,
  })
  return { code: 'NO_PRICE', subject: runner, describe }
}

/** Without an action: while the budget is spent it could only fail. */
function budgetSpent(budget: BudgetKey, { code, message }: RunError): Problem {
  const describe = () => ({
    cause: `Runs are parked: ${withoutFullStop(message)}.`,
    label: `Raise ${budget} or wait for the next day (UTC), then resume the parked runs`,
    command: `reveille resume --all --code ${code}`,
  })
  return { code: 'BUDGET_SPENT', subject: budget, describe }
}

function budgetAlarm({ key, percent, day, spent }: BudgetAlarm): Problem {
  const describe = () => ({
    cause: `${percent} % of ${key} are spent on ${day} (UTC): ${spent}.`,
    label: `See what spends it, and raise ${key} if intended`,
    command: 'reveille spend --by mapping',
  })
  return { code: 'BUDGET_ALARM', subject: key, describe }
}

function deliveriesParked(channel: string, to: string | undefined, { code, reason }: Failure): Problem {
  const address = to === undefined ? '' : `, to ${to}`
  const next =
    code === 'NO_ROUTE'
      ? { label: 'Set where replies go, then send the parked replies', command: 'reveille route' }
      : {
          label: `Fix the causes (\`reveille deliveries --state parked --channel ${channel}\`), then send the parked replies`,
          command: `reveille replay --parked --channel ${channel}`,
          action: { method: 'POST', path: '/api/deliveries/replay', body: { channel } } as const,
        }
  const cause = () =>
    `Replies to ${channel} are parked. The newest${address}: ${code}: ${withoutFullStop(reason)}.`
  // Without a route the main session's own replies go nowhere either.
  const isSilent = code === 'NO_ROUTE'
  return {
    code: 'DELIVERIES_PARKED',
    subject: channel,
    isSilent,
    describe: () => ({ cause: cause(), ...next }),
  }
}

function channelRefuses(channel: string, code = 'failed', reason = 'no reason given'): Problem {
  const describe = () => ({
    cause: `Nothing can be sent on the channel ${channel}: ${code}: ${withoutFullStop(reason)}.`,
    label: `Fix \`channels.${channel}\`. The channel is tried again when you save`,
    command: 'reveille doctor',
  })
  return { code: 'CHANNEL_REFUSES', subject: channel, describe }
}

function sourceStopped({ source, state, detail }: SourceState): Problem {
  // Plugins may quote anybody in `detail`; a catch-up's text is ours.
  const connect = source.startsWith(catchUpSource('')) && /`(reveille connect [^`]+)`/.exec(detail)?.[1]
  const describe = () => ({
    cause: `The source ${source} fetches nothing (${state}): ${detail || 'no reason given'}`,
    ...(connect
      ? { label: 'Register the webhook again', command: connect }
      : { label: 'See what the source reports, and fix it', command: 'reveille doctor' }),
  })
  return { code: 'SOURCE_STOPPED', subject: source, describe }
}

function reloadRefused(
  files: string,
  diagnostics: readonly Diagnostic[],
  { generation, snapshot }: Live,
): Problem | undefined {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return undefined
  const place = first.place && formatPlace(first.place, dirname(snapshot.settings.file))
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  const where = place === undefined ? '' : `${place}: `
  const describe = () => ({
    cause: `Your last change was refused; generation ${generation} is still live: ${where}${withoutFullStop(first.message)}${more}.`,
    label: `Fix ${place ?? 'the files'}. The files are loaded again when you save`,
    command: first.code === 'TEST_FAILED' ? 'reveille test' : 'reveille check',
    action: { method: 'POST', path: '/api/reload' } as const,
  })
  return { code: 'RELOAD_REFUSED', subject: files, describe }
}

/** True if the configuration still has the subject of an issue. */
function isConfigured(about: IssueCodeRow['about'], subject: string, snapshot: Snapshot): boolean {
  const { settings, endpoints, mappings } = snapshot
  switch (about) {
    case 'endpoint':
      return beginnings(subject).some((name) => isConfiguredName(snapshot, name))
    case 'mapping':
      return mappings.some(({ id }) => id === subject) || snapshot.covers(subject.replace(/^\//, ''))
    case 'channel':
      return Object.hasOwn(settings.channels, subject)
    case 'source':
      return (
        Object.hasOwn(settings.sources, subject) ||
        Object.keys(endpoints).some((name) => endpoints[name]?.catchUp && subject === catchUpSource(name))
      )
    case 'budget':
      if (subject === 'agents.budget') return settings.agents.budget !== undefined
      return Object.keys(endpoints).some(
        (name) => endpoints[name]?.budget && subject === `endpoints.${name}.budget`,
      )
    default:
      return true
  }
}

/** The runners that have failed runs, which nobody retried, or whose last heartbeat failed. A success elsewhere repairs neither. */
async function failedRunners(read: Pick<Reader, 'runs'>, since: number): Promise<ReadonlySet<string>> {
  const runners = new Set<string>()
  const { items } = await read.runs({ kind: 'heartbeat', limit: 1 })
  for (const { state, runner } of items) if (state === 'failed') runners.add(runner)
  for await (const runs of pagesOf((page) => read.runs({ kind: 'run', state: 'failed', ...page }))) {
    const recent = runs.filter(({ createdAt }) => createdAt > since)
    for (const { runner } of recent) runners.add(runner)
    if (recent.length < runs.length) break
  }
  return runners
}

/** Drift is about a field: `orders/:shop:payload.total`. */
function beginnings(subject: string): string[] {
  const parts = subject.split(':')
  return parts.map((_part, index) => parts.slice(0, index + 1).join(':'))
}

function subjectOf({ mapping, endpoint = 'agent' }: Pick<RunRecord, 'mapping' | 'endpoint'>): string {
  return mapping ?? endpoint
}

function isParkedFor(code: IssueCode, subject: string, run: RunRecord): boolean {
  const { error, runner } = run
  if (code === 'LOOP') return error?.code === 'LOOP' && subjectOf(run) === subject
  if (code === 'NO_PRICE') return error?.code === 'NO_PRICE' && runner === subject
  return error?.code === 'BUDGET' && error.message.includes(`(${subject})`)
}

function nameOf({ mapping, endpoint = 'agent' }: Pick<RunRecord, 'mapping' | 'endpoint'>): string {
  return mapping === undefined ? `/${endpoint}` : `the mapping "${mapping}"`
}
