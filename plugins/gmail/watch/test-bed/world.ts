/** Runs a source with everything around it in memory: Google, a gateway, a disk and a clock. */

import assert from 'node:assert/strict'
import { PluginError, type PluginLog, type SourceCall, type SourceReport } from '@reveille/kit'
import type { GmailConfiguration } from '../../configuration.ts'
import type { Cursor } from '../cursor.ts'
import { watchMailbox } from '../index.ts'
import { createTestClock } from './clock.ts'
import { type Fault, type FaultSource, type Lifetime, withFault } from './fault.ts'
import { createFakeGateway } from './gateway.ts'
import { createFakeGoogle } from './google.ts'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly facts: Record<string, unknown>
}

export interface Run extends Lifetime {
  readonly outcome: { readonly error?: unknown; readonly isOver: boolean }
  readonly receiver: ((body: unknown) => Promise<void>) | undefined
  /** Notifies the source that the configuration of the gateway changed. */
  reload(): void
}

export type World = ReturnType<typeof createWorld>

export const credentials = {
  account: 'Ada@example.com',
  clientId: 'client',
  refreshToken: 'refresh',
  scopes: ['mail'],
}

export const configuration: GmailConfiguration = {
  account: 'ada@example.com',
  label: 'INBOX',
  exclude: ['SPAM', 'TRASH', 'DRAFT', 'SENT'],
  mode: 'pull',
  topic: 'projects/p/topics/t',
  subscription: 'projects/p/subscriptions/s',
  includeBody: true,
  maxBytes: 20_000,
  renewEveryMinutes: 720,
  baseUrls: { accounts: '', oauth: '', gmail: '', pubsub: '' },
}

export function createWorld(changes: Partial<GmailConfiguration> = {}) {
  const config = { ...configuration, ...changes }
  const clock = createTestClock()
  const google = createFakeGoogle(clock)
  const gateway = createFakeGateway()
  /** Maps a name to a value as JSON. */
  const disk = new Map<string, string>([['credentials', JSON.stringify(credentials)]])
  const lines: LogLine[] = []
  const reports: SourceReport[] = []
  const scripted = new Map<string, Fault[]>()
  const log =
    (level: LogLine['level']) =>
    (event: string, facts: Record<string, unknown> = {}) => {
      lines.push({ level, event, facts })
    }
  const logs: PluginLog = { info: log('info'), warn: log('warn'), error: log('error') }

  const world = {
    ...{ config, clock, google, gateway, disk, lines, reports },
    /** Adds faults, one for each of the next calls of an operation. */
    inject(operation: string, ...faults: Fault[]) {
      scripted.set(operation, [...(scripted.get(operation) ?? []), ...faults])
    },
    faults: { next: (operation) => scripted.get(operation)?.shift() } as FaultSource,
    hasSurface: true,
    onWritten: (_name: string, _value: unknown): void => {},
    /** Undefined if there is no cursor, or a damaged one. */
    cursor(): Cursor | undefined {
      try {
        return JSON.parse(disk.get('cursor') ?? '')
      } catch {
        return undefined
      }
    },
    events: () => lines.map(({ event }) => event),
    line: (event: string) => lines.findLast((line) => line.event === event),
    state: () => reports.at(-1)?.state,
    detail: () => reports.at(-1)?.detail ?? '',
    start(): Run {
      const controller = new AbortController()
      const { signal } = controller
      let outcome: Run['outcome'] = { isOver: false }
      let receiver: Run['receiver']
      let reloaded = () => {}
      const life = {
        controller,
        reload: () => reloaded(),
        isDead: false,
        get outcome() {
          return outcome
        },
        get receiver() {
          return life.isDead || outcome.isOver ? undefined : receiver
        },
      }
      const withFaults = <Result>(operation: string, inner: AbortSignal, effect: () => Result) =>
        withFault(world.faults, life, clock, operation, inner, effect)
      const never = new AbortController().signal
      const call: SourceCall = {
        signal,
        clock: {
          now: clock.now,
          async sleep(ms, inner) {
            await clock.sleep(ms, inner)
            if (life.isDead) await new Promise<never>(() => {})
          },
        },
        storage: {
          async read(name) {
            const text = disk.get(name)
            try {
              return text === undefined ? undefined : JSON.parse(text)
            } catch {
              throw new PluginError('It is damaged.', { code: 'kept-damaged', retryable: false })
            }
          },
          write: (name, value) =>
            withFaults(`write ${name}`, never, () => {
              world.onWritten(name, value)
              disk.set(name, JSON.stringify(value))
            }),
        },
        post: (_endpoint, body, inner = signal) => withFaults('post', inner, () => gateway.post(body)),
        limitsOf: () => gateway.limits,
        receive(_endpoint, take) {
          receiver = take
          return world.hasSurface
        },
        onReloaded(listener) {
          reloaded = listener
        },
        report: (report) => {
          if (!life.isDead) reports.push(report)
        },
      }
      const open = async () => google.open({ next: (operation) => world.faults.next(operation) }, life)
      watchMailbox({ config, log: logs, open, random: () => 0.5 }, call).then(
        () => {
          outcome = { isOver: true }
        },
        (error) => {
          outcome = { isOver: true, error }
        },
      )
      return life
    },
    /** Ends the source as its host does. */
    async stop(run: Run) {
      run.controller.abort(new Error('The gateway stops.'))
      await clock.until(() => run.outcome.isOver, 1000)
      assert.equal(run.outcome.error, undefined)
    },
    /** Waits until the source has nothing more to do. */
    async idle() {
      await clock.until(() => google.queue.size === 0 && world.reached())
    },
    /** Returns whether the cursor on disk is at the end of the mailbox. */
    reached: () => Number(world.cursor()?.historyId ?? 0) >= google.historyId,
  }
  return world
}

/** Runs a source from a second before `ask` to its end. */
export async function whileWatched(
  ask: (world: World, run: Run) => Promise<void>,
  changes: Partial<GmailConfiguration> = {},
): Promise<void> {
  const world = createWorld(changes)
  const run = world.start()
  await world.clock.pass(1000)
  await ask(world, run)
  await world.stop(run)
}
