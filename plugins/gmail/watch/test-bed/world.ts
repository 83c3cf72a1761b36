/** Runs a source with everything around it in memory: Google, a gateway, a disk and a clock. */

import assert from 'node:assert/strict'
import { test as nodeTest } from 'node:test'
import { PluginError, type PluginLog, type SourceCall, type SourceReport } from '@reveille/kit'
import type { GmailConfiguration } from '../../configuration.ts'
import type { Cursor } from '../cursor.ts'
import { watchMailbox } from '../index.ts'
import { createTestClock } from './clock.ts'
import {
  type FailureFacts,
  type Fault,
  type FaultSource,
  failure,
  type Lifetime,
  withFault,
} from './fault.ts'
import { createFakeGateway } from './gateway.ts'
import { createFakeGoogle } from './google.ts'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly facts: Record<string, unknown>
}

export interface Run extends Lifetime {
  readonly outcome: { readonly error?: unknown; readonly isOver: boolean }
  reload(): void
}

export type World = ReturnType<typeof createWorld>

const credentials = {
  account: 'Ada@example.com',
  clientId: 'client',
  refreshToken: 'refresh',
  scopes: ['mail'],
}

const configuration: GmailConfiguration = {
  account: 'ada@example.com',
  label: 'INBOX',
  exclude: ['SPAM', 'TRASH', 'DRAFT', 'SENT'],
  pollSeconds: 10,
  includeBody: true,
  maxBytes: 20_000,
  baseUrls: { accounts: '', oauth: '', gmail: '' },
}

export function createWorld() {
  const config = { ...configuration }
  const clock = createTestClock()
  const google = createFakeGoogle(clock)
  const gateway = createFakeGateway()
  /** Maps a name to a value as JSON. */
  const disk = new Map([['credentials', JSON.stringify(credentials)]])
  const lines: LogLine[] = []
  const reports: SourceReport[] = []
  const scripted = new Map<string, Fault[]>()
  const log =
    (level: LogLine['level']) =>
    (event: string, facts: Record<string, unknown> = {}) => {
      lines.push({ level, event, facts })
    }
  const logs: PluginLog = { info: log('info'), warn: log('warn'), error: log('error') }

  let started: Run | undefined
  const world = {
    ...{ clock, google, gateway, disk, lines, reports },
    /** Adds a fault for each of the next calls of an operation, this many. */
    inject(operation: string, fault: Fault, count = 1) {
      scripted.set(operation, [...(scripted.get(operation) ?? []), ...Array<Fault>(count).fill(fault)])
    },
    /** Fails the next calls of an operation, this many, before they have an effect. */
    fail(operation: string, code: string, { count = 1, ...facts }: { count?: number } & FailureFacts = {}) {
      world.inject(operation, { before: failure(code, facts) }, count)
    },
    faults: { next: (operation) => scripted.get(operation)?.shift() } as FaultSource,
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
    /** Stores the consent with these changes, as setup does. */
    consent(changes: object = {}) {
      disk.set('credentials', JSON.stringify({ ...credentials, ...changes }))
    },
    state: () => reports.at(-1)?.state,
    detail: () => reports.at(-1)?.detail ?? '',
    /** Starts the source with these changes of its configuration. */
    start(changes: Partial<GmailConfiguration> = {}): Run {
      Object.assign(config, changes)
      const controller = new AbortController()
      const { signal } = controller
      let outcome: Run['outcome'] = { isOver: false }
      let reloaded = () => {}
      const life = {
        controller,
        reload: () => reloaded(),
        isDead: false,
        get outcome() {
          return outcome
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
      started = life
      return life
    },
    /** Starts the source, and lets it watch for a second. */
    async watch(changes: Partial<GmailConfiguration> = {}): Promise<Run> {
      const run = world.start(changes)
      await clock.pass(1000)
      return run
    },
    /** Notifies the source that the configuration of the gateway changed. */
    reload: () => started?.reload(),
    /** Waits until the source ends by itself, and returns its error. */
    async ended(): Promise<unknown> {
      const run = started
      started = undefined
      await clock.until(() => run?.outcome.isOver === true, 1000)
      return run?.outcome.error
    },
    /** Ends the source as its host does. */
    async stop() {
      started?.controller.abort(new Error('The gateway stops.'))
      assert.equal(started && (await world.ended()), undefined)
    },
    /** Waits until the source has nothing more to do. */
    idle: () => clock.until(() => world.reached()),
    /** Returns whether the cursor on disk is at the end of the mailbox. */
    reached: () => Number(world.cursor()?.historyId ?? 0) >= google.historyId,
  }
  return world
}

/** Tests a source in a world of its own. What still runs at the end is stopped. */
export function test(name: string, ask: (world: World) => Promise<void>): void {
  nodeTest(name, async () => {
    const world = createWorld()
    await ask(world)
    await world.stop()
  })
}
