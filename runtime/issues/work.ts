/** Follows what the gateway does after it has accepted: runs, deliveries, channels, budgets, sources and reloads. */

import { dirname } from 'node:path'
import { type CurrentLive, formatPlace, type ReloadEvent } from '@reveille/engine'
import type { BudgetKey, DispatchObserver } from '../dispatch/index.ts'
import { catchUpSource, type SourceState } from '../sources/index.ts'
import { dayOf } from '../store/day.ts'
import type { Reader, RunRecord } from '../store/port.ts'
import { type IssueCode, issueCodes, quietMs } from './codes.ts'
import { isConfiguredName } from './configured-names.ts'
import { type Ledger, withoutStop } from './ledger.ts'

export interface WorkWatchOptions {
  readonly ledger: Ledger
  readonly current: CurrentLive
  readonly read: Pick<Reader, 'runs' | 'openDeliveries'>
  readonly now: () => number
  /** What the issue of refused files is about. Default: `files`. */
  readonly files?: string
  /** Whether this process ends what the configuration no longer has. Default: it does. */
  readonly leads?: () => boolean
}

/** The parked runs among which those of an issue are looked for. */
const maxParked = 100

export function createWorkWatch({
  ledger,
  current,
  read,
  now,
  files = 'files',
  leads = () => true,
}: WorkWatchOptions) {
  /** The day (UTC) of the last alarm of each budget. */
  const alarmedOn = new Map<BudgetKey, string>()

  /** Whether the main session itself runs on it, and can do nothing about its failure. */
  function isOfMain(runner: string): boolean {
    return current().snapshot.settings.agents.defaults.runner === runner
  }

  function noteRunner(
    runner: string,
    failure: { readonly code: string; readonly reason: string },
    id: string,
    isRun: boolean,
  ) {
    ledger.note({
      code: 'RUNNER_FAILS',
      subject: runner,
      isSilent: isOfMain(runner),
      describe: () => ({
        cause: `Runs of the runner "${runner}" fail with ${failure.code}: ${withoutStop(failure.reason)}.`,
        next: isRun
          ? {
              label: `See how the newest failed (${id}), fix that, and then perform what failed again`,
              command: `reveille retry --runner ${runner} --since 7d`,
              action: {
                method: 'POST',
                path: '/api/runs/retry',
                body: { runner, since: new Date(now() - quietMs).toISOString() },
              },
            }
          : { label: 'See how the newest of them failed', command: `reveille runs ${id}` },
      }),
    })
  }

  const observer: DispatchObserver = {
    runEnded(run, result) {
      const { runner, timeoutSeconds, id } = run
      if (result.state === 'succeeded') {
        if (!ledger.hasOpen()) return
        ledger.resolve('RUNNER_HELD', runner)
        ledger.resolve('TIMEOUTS', subjectOf(run))
      } else if (result.state === 'timed-out') {
        ledger.note({
          code: 'TIMEOUTS',
          subject: subjectOf(run),
          describe: () => ({
            cause: `Runs of ${nameOf(run)} do not end within their ${timeoutSeconds} s (runner ${runner}).`,
            next: {
              label: 'See what the newest of them did, and raise `timeoutSeconds` if that takes longer',
              command: `reveille runs ${id}`,
            },
          }),
        })
      } else if (result.state === 'failed' && result.error.code !== 'INTERRUPTED') {
        noteRunner(runner, { code: result.error.code, reason: result.reason }, id, true)
      }
    },

    runParked(run, { code, message }, budget) {
      if (code === 'LOOP') {
        ledger.note({
          code: 'LOOP',
          subject: subjectOf(run),
          describe: () => ({
            cause: `Runs of ${nameOf(run)} are parked, as a loop is suspected: ${withoutStop(message)}.`,
            next: {
              label: 'See what causes the runs; end this one, or resume it if it is meant',
              command: `reveille cancel ${run.id}`,
              action: { method: 'POST', path: `/api/runs/${run.id}/cancel` },
            },
          }),
        })
      } else if (code === 'NO_PRICE') {
        ledger.note({
          code: 'NO_PRICE',
          // A sender may have chosen the model.
          subject: run.runner,
          describe: () => ({
            cause: `Runs are parked, as a budget in USD cannot count them: ${withoutStop(message)}.`,
            next: {
              label: 'Fix that, then run the parked runs',
              command: `reveille resume --all --code ${code}`,
              action: { method: 'POST', path: '/api/runs/resume', body: { code } },
            },
          }),
        })
      } else if (budget !== undefined) {
        // It is worse than much of it being spent.
        ledger.resolve('BUDGET_ALARM', budget)
        ledger.note({
          code: 'BUDGET_SPENT',
          subject: budget,
          describe: () => ({
            cause: `Runs are parked: ${withoutStop(message)}.`,
            // No button: while the budget is spent it could only fail.
            next: {
              label: `Raise ${budget} or wait for the next day (UTC), then run the parked runs`,
              command: `reveille resume --all --code ${code}`,
            },
          }),
        })
      }
    },

    budgetAlarmed({ key, percent, day, spent }) {
      alarmedOn.set(key, day)
      ledger.note({
        code: 'BUDGET_ALARM',
        subject: key,
        describe: () => ({
          cause: `${percent} % of ${key} are spent on ${day} (UTC): ${spent}.`,
          next: {
            label: `See what spends it, and raise ${key} if that is meant`,
            command: 'reveille spend --by mapping',
          },
        }),
      })
    },

    heartbeatEnded({ runner, id }, failure) {
      if (failure !== undefined) noteRunner(runner, failure, id, false)
    },

    deliveryEnded({ channel, to }, state, reason) {
      if (state === 'delivered') {
        if (ledger.hasOpen()) ledger.resolve('CHANNEL_REFUSES', channel)
      } else if (state === 'parked' && reason !== undefined) {
        const address = to === undefined ? '' : `, to ${to}`
        ledger.note({
          code: 'DELIVERIES_PARKED',
          subject: channel,
          // Its own replies go nowhere either.
          isSilent: reason.code === 'NO_ROUTE',
          describe: () => ({
            cause: `Replies to ${channel} are parked. The newest${address}: ${reason.code}: ${withoutStop(reason.reason)}.`,
            next:
              reason.code === 'NO_ROUTE'
                ? {
                    label: 'Say where replies go, then send the parked replies',
                    command: 'reveille route',
                  }
                : {
                    label: `Fix the causes (\`reveille deliveries --state parked --channel ${channel}\`), then send the parked replies`,
                    command: `reveille replay --parked --channel ${channel}`,
                    action: { method: 'POST', path: '/api/deliveries/replay', body: { channel } },
                  },
          }),
        })
      }
    },

    runnerChanged(changed) {
      const { runner } = changed
      if (changed.state === 'open') return ledger.resolve('RUNNER_HELD', runner)
      const { code, reason } = changed
      ledger.note({
        code: 'RUNNER_HELD',
        subject: runner,
        isSilent: isOfMain(runner),
        describe: () => ({
          cause: `Runs of the runner "${runner}" wait, and none is lost, as it can answer nobody: ${code}: ${withoutStop(reason)}.`,
          next: {
            label: 'Fix that. One run tries again from time to time, and this command at once',
            command: `reveille retry --runner ${runner} --since 7d`,
            action: {
              method: 'POST',
              path: '/api/runs/retry',
              body: { runner, since: new Date(now() - quietMs).toISOString() },
            },
          },
        }),
      })
    },

    channelChanged({ channel, state, ...why }) {
      if (state === 'open') ledger.resolve('CHANNEL_REFUSES', channel)
      else if (state === 'held' && 'code' in why) noteChannel(channel, why.code, why.reason)
    },

    channelChecked({ channel, ok, code, detail }) {
      if (!ok) noteChannel(channel, code, detail)
    },
  }

  function noteChannel(channel: string, code = 'failed', reason = 'it does not say why'): void {
    ledger.note({
      code: 'CHANNEL_REFUSES',
      subject: channel,
      describe: () => ({
        cause: `Nothing can be sent on the channel ${channel}: ${code}: ${withoutStop(reason)}.`,
        next: {
          label: `Fix \`channels.${channel}\`. The channel is tried again when you save`,
          command: 'reveille doctor',
        },
      }),
    })
  }

  function sourceChanged({ source, state, detail }: SourceState): void {
    if (state === 'working') ledger.resolve('SOURCE_STOPPED', source)
    if (state !== 'failing' && state !== 'waiting' && state !== 'held-elsewhere') return
    // What plugins report may quote anybody; what a catch-up reports is ours.
    const connect = source.startsWith(catchUpSource('')) && /`(reveille connect [^`]+)`/.exec(detail)?.[1]
    ledger.note({
      code: 'SOURCE_STOPPED',
      subject: source,
      describe: () => ({
        cause: `The source ${source} fetches nothing (${state}): ${detail || 'it does not say why'}`,
        next: connect
          ? { label: 'Register the webhook again', command: connect }
          : { label: 'See what the source reports, and fix it', command: 'reveille doctor' },
      }),
    })
  }

  function reloaded(event: ReloadEvent): void {
    if (event.type === 'snapshot-swapped' || event.type === 'content-unchanged')
      ledger.resolve('RELOAD_REFUSED', files)
    if (event.type === 'snapshot-swapped') endGone()
    if (event.type !== 'candidate-rejected' || event.rollbackTo !== undefined) return
    const errors = event.diagnostics.filter(({ severity }) => severity === 'error')
    const [first] = errors
    if (first === undefined) return
    const { generation, snapshot } = current()
    ledger.note({
      code: 'RELOAD_REFUSED',
      subject: files,
      describe: () => {
        const place = first.place && formatPlace(first.place, dirname(snapshot.settings.file))
        const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
        return {
          cause: `Your last change was refused; generation ${generation} is still live: ${place === undefined ? '' : `${place}: `}${withoutStop(first.message)}${more}.`,
          next: {
            label: `Fix ${place ?? 'the files'}. The files are loaded again when you save`,
            command: 'reveille check',
            action: { method: 'POST', path: '/api/reload' },
          },
        }
      },
    })
  }

  /** Ends the issues about what the configuration no longer has. */
  function endGone(): void {
    if (!leads()) return
    const { snapshot } = current()
    const { settings, endpoints } = snapshot
    const mappings = new Set(snapshot.mappings.map(({ id }) => id))
    const names: Record<(typeof issueCodes)[IssueCode]['about'], (subject: string) => boolean> = {
      endpoint: (subject) => beginnings(subject).some((name) => isConfiguredName(snapshot, name)),
      mapping: (subject) => mappings.has(subject) || snapshot.covers(subject.replace(/^\//, '')),
      channel: (subject) => Object.hasOwn(settings.channels, subject),
      source: (subject) =>
        Object.hasOwn(settings.sources, subject) ||
        Object.keys(endpoints).some((name) => endpoints[name]?.catchUp && subject === catchUpSource(name)),
      runner: () => true,
      budget: (subject) =>
        subject === 'agents.budget'
          ? settings.agents.budget !== undefined
          : Object.entries(endpoints).some(
              ([name, { budget }]) => budget && subject === `endpoints.${name}.budget`,
            ),
      files: () => true,
      gateway: () => true,
      store: () => true,
    }
    for (const { code, subject } of ledger.open())
      if (!names[issueCodes[code].about](subject)) ledger.resolve(code, subject)
  }

  /** Ends what ends without an event: parked runs and deliveries that an operator has dealt with, and the alarms of a day. */
  async function sweep(): Promise<void> {
    const open = ledger.open()
    const today = dayOf(now())
    for (const { code, subject } of open) {
      if (code !== 'BUDGET_ALARM') continue
      // The alarm of an earlier process may be of today.
      const day = alarmedOn.get(subject) ?? today
      alarmedOn.set(subject, day)
      if (day !== today) ledger.resolve(code, subject)
    }
    const about = (...codes: readonly IssueCode[]) => open.filter(({ code }) => codes.includes(code))
    // Loops of an endpoint have no parked runs, and end with their hour.
    const parking = about('LOOP', 'BUDGET_SPENT', 'NO_PRICE').filter(
      ({ subject }) => !subject.startsWith('/'),
    )
    if (parking.length > 0) {
      const { items } = await read.runs({ state: 'parked', limit: maxParked })
      for (const { code, subject } of parking) {
        const isLeft = items.some((run) => isParkedFor(code, subject, run))
        if (!isLeft) ledger.resolve(code, subject)
      }
    }
    const failing = about('RUNNER_FAILS').map(({ subject }) => subject)
    if (failing.length > 0) {
      const failed = await failedRunners()
      for (const runner of failing) if (!failed.has(runner)) ledger.resolve('RUNNER_FAILS', runner)
    }
    const parked = about('DELIVERIES_PARKED')
    if (parked.length > 0) {
      const channels = await read.openDeliveries()
      for (const { code, subject } of parked)
        if (!channels.some((each) => each.channel === subject && each.parked > 0))
          ledger.resolve(code, subject)
    }
  }

  /** The runners that have failed runs, which nobody retried, or whose last heartbeat failed. A success elsewhere repairs neither. */
  async function failedRunners(): Promise<ReadonlySet<string>> {
    const runners = new Set<string>()
    const { items } = await read.runs({ kind: 'heartbeat', limit: 1 })
    for (const { state, runner } of items) if (state === 'failed') runners.add(runner)
    let cursor: string | undefined
    do {
      const page = await read.runs({ kind: 'run', state: 'failed', limit: 500, ...(cursor && { cursor }) })
      const recent = page.items.filter(({ createdAt }) => createdAt > now() - quietMs)
      for (const { runner } of recent) runners.add(runner)
      cursor = recent.length < page.items.length ? undefined : page.next
    } while (cursor !== undefined)
    return runners
  }

  return {
    observer,
    sourceChanged,
    reloaded,
    endGone,
    sweep,
  }
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
