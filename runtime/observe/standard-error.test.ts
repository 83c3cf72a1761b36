import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

/** Writes ten megabytes, says so, and then waits for a word on its input. */
const program = `
  import { once } from 'node:events'
  import { createStandardError } from './standard-error.ts'
  const output = createStandardError((lines) => output.write(lines + ' dropped\\n'))
  for (let line = 0; line < 100; line += 1) output.write('x'.repeat(100_000) + '\\n')
  process.stdout.write(String(output.dropped()))
  await once(process.stdin, 'data')
  await output.flush()
  process.exit()
`

test('lines that do not fit are dropped, and one line says how many once there is room', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
  })
  const [dropped] = await once(child.stdout, 'data')
  const reading = text(child.stderr)
  child.stdin.write('read\n')
  const lines = (await reading).trim().split('\n')
  assert.ok(Number(dropped) > 0)
  assert.equal(lines.at(-1), `${dropped} dropped`)
  assert.equal(lines.length - 1, 100 - Number(dropped))
})
