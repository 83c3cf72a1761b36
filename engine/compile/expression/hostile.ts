/** Owns the test that no expression holds up a process that has hostile bodies; a short and a long form share it. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Measured } from './hostile-run.ts'

const program = fileURLToPath(new URL('hostile-run.ts', import.meta.url))

/** `bytes`: how large the bodies are; `mostMs`: how long an evaluation may hold the event loop. */
/** `stride`: of all expressions, each so-manieth is evaluated. Default: 1, all. */
export function testHostile(bytes: number, mostMs: number, stride = 1): void {
  test(`no expression over a hostile body of ${bytes} bytes holds the event loop for ${mostMs} ms`, async (context) => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      program,
      `${bytes}`,
      `${stride}`,
    ])
    const measured = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Measured)
    const longest = Math.max(...measured.map((each) => each.longest))
    context.diagnostic(`${measured.length} expressions, the longest ${longest.toFixed(1)} ms`)
    assert.ok(measured.length > 200 / stride)
    assert.deepEqual(
      measured.filter((each) => each.longest > mostMs || each.fault !== undefined),
      [],
    )
  })
}
