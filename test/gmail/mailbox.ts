/** Provides a watched mailbox for tests: the fake Google with a consent, and a gateway's configuration for it. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { SourceState } from '../../runtime/sources/index.ts'
import type { Page, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createSite } from '../connect/fixture.ts'
import { createFakeGoogle } from '../google/index.ts'

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
  } = {},
) {
  const site = await createSite(t, options.now ?? Date.UTC(2026, 0, 15, 12))
  const { folder, soon, start: startWith, stop } = site
  const mailbox = await createMailbox(t, { ...options, now: site.clock.now() })
  const start = () => startWith(options.hooks?.(mailbox) ?? mailbox.hooks)
  /** Returns the source once it is in that state. */
  const fares = (state: SourceState['state']) => site.source('gmail', (each) => each.state === state)
  if (options.hasConsent !== false) await mailbox.consent(join(folder, 'data'))
  await start()
  if (options.hasConsent !== false) await fares('working')
  return Object.assign(site, mailbox, {
    start,
    fares,
    /** Stops the gateway and starts another one on the same data. */
    async restart() {
      await stop()
      await start()
    },
    /** Returns the runs of mails once there are this many. */
    runs: (count: number) =>
      soon(async () => {
        const { items } = await site.gateway.read<Page<RunRecord>>('/api/runs?limit=500')
        const runs = items.filter(({ sessionKey }) => sessionKey.startsWith('hook:gmail:'))
        return runs.length >= count ? runs : undefined
      }, `${count} runs of ${mailbox.google.account}`),
    /** Returns what the source has stored. */
    stored: async (name: 'cursor' | 'credentials'): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse(await readFile(join(sourceFolder(join(folder, 'data')), `${name}.json`), 'utf8')),
  })
}
