/**
 * Supervises one source, from the moment it is configured to the moment it is not:
 *
 *   wait for the last run of this name -> lock -> run -> release the lock -> wait -> lock -> ...
 *
 * There is never a second run: not here, because each waits for the end of the one before, and not in another process,
 * because a run holds the lock.
 */

import { backoffMs, isPluginError, oneLine, retryDelayMs, transientError } from '@reveille/kit'
import type { Logger } from 'pino'
import {
  type CallOptions,
  createCall,
  type GatewayAccess,
  type RunCall,
  type RunnableSource,
} from './call.ts'
import { lockSource } from './lock.ts'
import { areDifferent, logState, type SourceState } from './state.ts'

export interface SupervisorOptions extends GatewayAccess, Pick<CallOptions, 'storage' | 'confirm'> {
  /** The folder of the source. */
  readonly folder: string
  readonly log: Logger
  readonly random: () => number
  /** Called with each change of the state, and each report. */
  readonly onState: (state: SourceState) => void
}

export type Supervisor = ReturnType<typeof superviseSource>

/** Milliseconds that a run may take to end before it is abandoned. */
const abandonAfterMs = 10_000
const heldElsewhereMs = 5000
const backoff = { firstMs: 1000, maxMs: 300_000 }
/** After a run of this length the next failure counts as the first. Milliseconds. */
const goodLifeMs = 600_000
/** Maximum length of a reason of an unexpected failure, in characters. */
const maxReasonLength = 300

export function superviseSource(
  source: RunnableSource,
  before: Promise<void> | undefined,
  options: SupervisorOptions,
) {
  const { folder, log, clock, random } = options
  const { name } = source
  const stop = new AbortController()
  const { enter, stopped, read } = createState(name, options)
  let failures = 0
  let running: RunCall | undefined

  const sleep = (ms: number) => clock.sleep(ms, stop.signal).catch(() => {})

  async function live(): Promise<void> {
    await before
    let hasRun = false
    while (!stop.signal.aborted) {
      try {
        const lock = lockSource(folder)
        if (lock === undefined) {
          enter({ state: 'held-elsewhere', detail: `Another process runs it, on the same data folder.` })
          await sleep(heldElsewhereMs)
          continue
        }
        try {
          hasRun = true
          await runOnce()
        } finally {
          lock.close()
        }
      } catch (error) {
        if (!stop.signal.aborted) await recover(error)
      }
    }
    stopped(hasRun)
  }

  /** Runs the source once. Resolves when the run was ordered to end. @throws what ended it before */
  async function runOnce(): Promise<void> {
    const own = createCall({ ...options, source: name, onReport: (report) => enter(report) })
    running = own
    const begunAt = clock.now()
    const ended = new AbortController()
    const timeIsOver = Promise.withResolvers<void>()
    const endIt = () => {
      own.abort(transientError('aborted', `The source ${name} is to end.`))
      clock.sleep(abandonAfterMs, ended.signal).then(timeIsOver.resolve, () => {})
    }
    stop.signal.addEventListener('abort', endIt)
    enter({ state: 'starting', detail: '' }, {})
    try {
      const isDone = (async () => source.run(own.call, own.host))().then(() => true)
      isDone.catch(() => {})
      const isInTime = await Promise.race([isDone, timeIsOver.promise.then(() => false)])
      if (!isInTime) log.warn({ event: 'source-abandoned', source: name, afterMs: abandonAfterMs })
      if (!stop.signal.aborted) throw new Error('it ended without being asked to')
    } finally {
      stop.signal.removeEventListener('abort', endIt)
      running = undefined
      own.end()
      ended.abort()
      if (clock.now() - begunAt >= goodLifeMs) failures = 0
    }
  }

  async function recover(error: unknown): Promise<void> {
    failures += 1
    const waitMs = waitAfter(error, failures, random)
    const detail = `${reasonOf(error)} It restarts in ${Math.ceil(waitMs / 1000)} s.`
    enter({ state: 'failing', detail }, { retryInMs: waitMs, err: error })
    await sleep(waitMs)
  }

  return {
    source,
    state: read,
    /** Notifies the run that the configuration of the gateway has changed. */
    reloaded: () => running?.reloaded(),
    /** Aborts the run and begins no other. */
    stop: () => stop.abort(),
    isStopped: () => stop.signal.aborted,
    /** Resolves when the source has ended or was abandoned. Never rejects. */
    ended: live(),
  }
}

/** The state of a source, which is logged and reported when it changes. */
function createState(name: string, { log, clock, onState }: SupervisorOptions) {
  let state: SourceState = { source: name, state: 'starting', detail: '', since: clock.now() }
  return {
    read: () => state,
    enter(
      next: Pick<SourceState, 'state' | 'detail' | 'times' | 'counts'>,
      /** With these it is always logged. */
      facts?: Readonly<Record<string, unknown>>,
    ): void {
      const isNews = facts !== undefined || areDifferent(next, state)
      const { times, counts } = state
      const since = next.state === state.state ? state.since : clock.now()
      state = { source: name, ...(times && { times }), ...(counts && { counts }), ...next, since }
      if (isNews) logState(log, state, facts)
      onState(state)
    },
    stopped(hasRun: boolean): void {
      state = { source: name, since: state.since, state: 'stopped', detail: '' }
      if (hasRun) logState(log, state)
      onState(state)
    },
  }
}

function waitAfter(error: unknown, failures: number, random: () => number): number {
  if (!isPluginError(error)) return backoffMs(failures, backoff, random)
  const { retryAfter, retryable } = error
  const retryAfterMs = typeof retryAfter === 'number' && retryAfter > 0 ? retryAfter * 1000 : 0
  const waitMs = retryDelayMs({ retryAfterMs }, failures, backoff, random)
  // An operator may fix it.
  return retryable ? waitMs : Math.max(backoff.maxMs, waitMs)
}

function reasonOf(error: unknown): string {
  if (isPluginError(error)) return oneLine(String(error.message), maxReasonLength)
  const words = error instanceof Error ? error.message : String(error)
  return `It failed unexpectedly: ${oneLine(words, maxReasonLength).replace(/\.$/, '')}.`
}
