/**
 * Tests that no seeded mistake passes in silence: the recording, which is compared with the product, has the code of each, and nothing for
 * those whose silence has a reason.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mistakes } from '../recording/mistakes.ts'
import { readRecording } from '../recording/record.ts'

test('each seeded mistake is recorded with its code, by a dry reload or by lint', async () => {
  const recording = await readRecording()
  for (const { name, code } of mistakes()) {
    const reloaded = recording.get(`mistake ${name}`) ?? assert.fail(`${name} is not recorded`)
    const said = reloaded + (recording.get(name.replace(/^mapping/, 'lint')) ?? '')
    if (code === 'ok') assert.deepEqual(JSON.parse(reloaded).diagnostics, [], name)
    else assert.ok(said.includes(`[${code}]`), `${code} is not in what is recorded of ${name}: ${said}`)
  }
})
