/** Provides a watched mailbox for tests: the fake Google with a consent, and a gateway's configuration for it. */

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { SourceState } from '../../runtime/sources/index.ts'
import { createManualSourceClock } from '../../runtime/sources/test-bed.ts'
import type { Page, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createFakeGoogle, type FakeGoogle } from '../google/index.ts'
import {
  configuration,
  createFolder,
  hookToken,
  type Installation,
  type InstallOptions,
  install,
  until,
} from '../installation.ts'

export interface Mailbox {
  readonly google: FakeGoogle
  /** The values under `hooks.gmail`. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Lines under `hooks:`, indented by two. */
  readonly hooks: string
  /** Stores the consent in the data folder, as setup does. */
  consent(dataFolder: string): Promise<void>
}

export async function createMailbox(
  t: TestContext,
  more: Readonly<Record<string, unknown>> = {},
  now = Date.now(),
  prepared?: Parameters<FakeGoogle['prepare']>[0],
): Promise<Mailbox> {
  const google = await createFakeGoogle({ now })
  atEnd(t, () => google.close())
  const settings = {
    account: google.account,
    ...google.prepare(prepared),
    baseUrls: google.baseUrls,
    ...more,
  }
  return {
    google,
    settings,
    hooks: hooksFor(settings),
    async consent(dataFolder) {
      const folder = sourceFolder(dataFolder)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = join(folder, 'credentials.json')
      await writeFile(file, JSON.stringify(google.credentials()))
      await chmod(file, 0o600)
    },
  }
}

export function hooksFor(gmail: object): string {
  return `  presets: [gmail]\n  gmail: ${JSON.stringify(gmail)}\n`
}

function sourceFolder(dataFolder: string): string {
  return join(dataFolder, 'sources', 'gmail')
}

export interface WatchedMailbox extends Mailbox {
  readonly folder: string
  readonly clock: {
    now(): number
    advance(ms: number): Promise<void>
    /** Moves the clock at once, as when the machine sleeps. */
    leap(ms: number): void
  }
  /** The gateway that runs now. */
  readonly gateway: Installation
  /** Stops the gateway and starts another one on the same data. */
  restart(): Promise<void>
  /** Starts a gateway if there is none. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Returns the source once it is in that state. Moves the clock on meanwhile, a second at a time. */
  fares(state: SourceState['state']): Promise<SourceState>
  /** Returns the runs of mails once there are this many. Moves the clock on meanwhile, a second at a time. */
  runs(count: number): Promise<readonly RunRecord[]>
  /** Returns what the source has stored. */
  stored(name: 'cursor' | 'credentials'): Promise<Readonly<Record<string, unknown>>>
}

/**
 * Starts a gateway in this process that watches the mailbox. The clock of its sources moves only while a test waits.
 */
export async function watchMailbox(
  t: TestContext,
  options: {
    readonly settings?: Readonly<Record<string, unknown>>
    /** Lines under `hooks:`, in place of the preset. */
    readonly hooks?: (mailbox: Mailbox) => string
    /** Default: true. */
    readonly hasConsent?: boolean
    readonly install?: (mailbox: Mailbox) => InstallOptions
  } = {},
): Promise<WatchedMailbox> {
  const manualClock = createManualSourceClock(Date.UTC(2026, 0, 15, 12))
  /** Moves from one sleeper to the next, so that each can act at its time. */
  const clock = {
    ...manualClock,
    leap: manualClock.advance,
    async advance(ms: number) {
      const until = manualClock.now() + ms
      for (let left = ms; left >= 0; left = until - manualClock.now()) {
        manualClock.advance(Math.min(left, manualClock.sleepers()[0] ?? left))
        await yieldToEventLoop()
        if (left === 0) return
      }
    },
  }
  const mailbox = await createMailbox(t, options.settings, clock.now())
  const { google } = mailbox
  const hooks = options.hooks?.(mailbox) ?? mailbox.hooks
  const text = configuration.replace(
    /^hooks: .*\n/m,
    `hooks:\n  enabled: true\n  token: ${hookToken}\n${hooks}`,
  )
  const folder = await createFolder(t, { 'reveille.yaml': text })
  if (options.hasConsent !== false) await mailbox.consent(join(folder, 'data'))
  const begin = () => install(t, {}, { folder, clock, ...options.install?.(mailbox) })
  let gateway = await begin()

  const second = async <Value>(ask: () => Promise<Value | undefined>) => {
    const value = await ask()
    if (value === undefined) await clock.advance(1000)
    return value
  }

  return {
    ...mailbox,
    folder,
    clock,
    get gateway() {
      return gateway
    },
    async restart() {
      await gateway.gateway.close({ graceMs: 0 })
      gateway = await begin()
    },
    async start() {
      gateway = await begin()
    },
    stop: () => gateway.gateway.close({ graceMs: 0 }),
    fares: (state) =>
      until(
        () =>
          second(async () => {
            const { sources } = await gateway.read<{ sources: SourceState[] }>('/api/status')
            return sources.find((each) => each.source === 'gmail' && each.state === state)
          }),
        `the source to be ${state}`,
      ),
    runs: (count) =>
      until(
        () =>
          second(async () => {
            const { items } = await gateway.read<Page<RunRecord>>('/api/runs?limit=500')
            const runs = items.filter(({ sessionKey }) => sessionKey.startsWith('hook:gmail:'))
            return runs.length >= count ? runs : undefined
          }),
        `${count} runs of ${google.account}`,
      ),
    stored: async (name) =>
      JSON.parse(await readFile(join(sourceFolder(join(folder, 'data')), `${name}.json`), 'utf8')),
  }
}
