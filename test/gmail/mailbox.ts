/** Provides a watched mailbox for tests: the fake Google with a consent, and a gateway's configuration for it. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { SourceState } from '../../runtime/sources/index.ts'
import { createManualSourceClock } from '../../runtime/sources/test-bed.ts'
import type { Page, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createFakeGoogle } from '../google/index.ts'
import {
  configuration,
  createFolder,
  hookToken,
  type InstallOptions,
  install,
  until,
} from '../installation.ts'

export interface MailboxOptions {
  /** Values under `hooks.gmail` beside the usual ones. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** The time of Google's clock. Default: now. */
  readonly now?: number
}

export type Mailbox = Awaited<ReturnType<typeof createMailbox>>

export async function createMailbox(t: TestContext, options: MailboxOptions = {}) {
  const google = await createFakeGoogle({ now: options.now ?? Date.now() })
  atEnd(t, () => google.close())
  const { account, baseUrls } = google
  const settings = { account, baseUrls, ...options.settings }
  return {
    google,
    /** The values under `hooks.gmail`. */
    settings,
    /** Lines under `hooks:`, indented by two. */
    hooks: hooksFor(settings),
    /** Stores the consent in the data folder, as setup does. */
    async consent(dataFolder: string): Promise<void> {
      const folder = sourceFolder(dataFolder)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, 'credentials.json'), JSON.stringify(google.credentials()), { mode: 0o600 })
    },
  }
}

export function hooksFor(gmail: object): string {
  return `  presets: [gmail]\n  gmail: ${JSON.stringify(gmail)}\n`
}

function sourceFolder(dataFolder: string): string {
  return join(dataFolder, 'sources', 'gmail')
}

/**
 * Starts a gateway in this process and, unless there is no consent, resolves when it watches the mailbox. The clock of
 * its sources moves only while a test waits.
 */
export async function watchMailbox(
  t: TestContext,
  options: MailboxOptions & {
    /** Lines under `hooks:`, in place of the preset. */
    readonly hooks?: (mailbox: Mailbox) => string
    /** Default: true. */
    readonly hasConsent?: boolean
    readonly install?: (mailbox: Mailbox) => InstallOptions
  } = {},
) {
  const manualClock = createManualSourceClock(options.now ?? Date.UTC(2026, 0, 15, 12))
  /** Moves from one sleeper to the next, so that each can act at its time. */
  const clock = {
    ...manualClock,
    /** Moves the clock at once, as when the machine sleeps. */
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
  const mailbox = await createMailbox(t, { ...options, now: clock.now() })
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

  /** Returns the source once it is in that state. Moves the clock on meanwhile, a second at a time. */
  const fares = (state: SourceState['state']) =>
    until(
      () =>
        second(async () => {
          const { sources } = await gateway.read<{ sources: SourceState[] }>('/api/status')
          return sources.find((each) => each.source === 'gmail' && each.state === state)
        }),
      `the source to be ${state}`,
    )
  if (options.hasConsent !== false) await fares('working')

  return {
    ...mailbox,
    folder,
    clock,
    /** The gateway that runs now. */
    get gateway() {
      return gateway
    },
    /** Stops the gateway and starts another one on the same data. */
    async restart() {
      await gateway.gateway.close({ graceMs: 0 })
      gateway = await begin()
    },
    /** Starts a gateway if there is none. */
    async start() {
      gateway = await begin()
    },
    stop: () => gateway.gateway.close({ graceMs: 0 }),
    fares,
    /** Returns the runs of mails once there are this many. Moves the clock on meanwhile, a second at a time. */
    runs: (count: number) =>
      until(
        () =>
          second(async () => {
            const { items } = await gateway.read<Page<RunRecord>>('/api/runs?limit=500')
            const runs = items.filter(({ sessionKey }) => sessionKey.startsWith('hook:gmail:'))
            return runs.length >= count ? runs : undefined
          }),
        `${count} runs of ${google.account}`,
      ),
    /** Returns what the source has stored. */
    stored: async (name: 'cursor' | 'credentials'): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse(await readFile(join(sourceFolder(join(folder, 'data')), `${name}.json`), 'utf8')),
  }
}
