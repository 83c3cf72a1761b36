/** Builds the plugin that a page shows, from the page alone beside the kit, and runs its tests. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd } from './at-end.ts'

const kit = join(import.meta.dirname, '..', 'plugins', 'kit')

/** Returns the files that a page shows, by name. They must be those that are named, in that order. */
export function filesOnPage(page: string, folder: string, names: readonly string[]): Record<string, string> {
  const shown = [...page.matchAll(/^`([\w.-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$/gms)]
  assert.deepEqual(
    shown.map(([, name]) => name),
    names,
  )
  return Object.fromEntries(shown.map(([, name, text]) => [`${folder}/${name}`, text ?? '']))
}

/** Leaves the same files as `npm install` of the kit's folder. */
export async function installKit(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules/@reveille'), { recursive: true })
  await symlink(kit, join(folder, 'node_modules/@reveille/kit'), 'dir')
}

/** Runs `node --test` in the folder, which must pass. @returns its report, as TAP */
export async function runOwnTests(t: TestContext, folder: string): Promise<string> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { promise, resolve } = Promise.withResolvers<{ error: unknown; stdout: string }>()
  const child = execFile(
    process.execPath,
    ['--test', '--test-reporter=tap'],
    { cwd: folder, env },
    (error, stdout) => resolve({ error, stdout }),
  )
  atEnd(t, () => void child.kill('SIGKILL'))
  const { error, stdout } = await promise
  assert.equal(error, null, stdout)
  assert.match(stdout, /# fail 0/)
  return stdout
}
