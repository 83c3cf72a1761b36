/** Owns what tests of a watched mailbox share: the stand-in for Google with a consent, and a gateway's configuration for it. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd } from '../at-end.ts'
import { createStandInGoogle, type StandInGoogle } from '../google/index.ts'

export interface Mailbox {
  readonly google: StandInGoogle
  /** What stands under `hooks.gmail`. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What stands under `hooks:`, indented by two. */
  readonly hooks: string
  /** As setup would have left it: puts the consent into the data folder. */
  consent(dataFolder: string): Promise<void>
}

export async function createMailbox(
  t: TestContext,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Mailbox> {
  const google = await createStandInGoogle()
  atEnd(t, () => google.close())
  const settings = { account: google.account, ...google.prepare(), baseUrls: google.baseUrls, ...more }
  return {
    google,
    settings,
    hooks: `  presets: [gmail]\n  gmail: ${JSON.stringify(settings)}\n`,
    async consent(dataFolder) {
      const folder = join(dataFolder, 'sources', 'gmail')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, 'credentials.json'), JSON.stringify(google.credentials()), { mode: 0o600 })
    },
  }
}
