/** Gives tests of the embedded store a place of their own, and the options that do not matter to them. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd } from './at-end.ts'

export const storeOptions = {
  now: Date.now,
  keepMs: 86_400_000,
  backlog: 1_000_000,
  historyMessages: 20,
} as const

/** Makes a folder, which is removed after the test and after what was opened in it since. Returns it, and the path of one in it. */
export async function createFolder(t: TestContext) {
  const parent = await mkdtemp(join(tmpdir(), 'reveille-store-'))
  atEnd(t, () => rm(parent, { recursive: true, force: true }))
  return { parent, location: join(parent, 'data') }
}
