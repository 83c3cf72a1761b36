/** Runs the tests of a plugin's folder. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import type { TestContext } from 'node:test'
import { atEnd } from './at-end.ts'

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
