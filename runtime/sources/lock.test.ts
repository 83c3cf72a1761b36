import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { atEnd } from '../../test/at-end.ts'
import { lockSource } from './index.ts'
import { createBed, createScripted, makeFolder, untilAborted } from './test-bed.ts'

/** The script of a process that holds the lock of a folder until it is killed. */
const holder = `
import { lockSource } from '${new URL('./index.ts', import.meta.url).href}'
const lock = lockSource(process.argv[1])
console.log(lock === undefined ? 'refused' : 'held')
// A lock that nothing refers to any more is collected as garbage, and so released.
if (lock !== undefined) setInterval(() => lock, 1000)
`

async function hold(t: Parameters<typeof atEnd>[0], folder: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', holder, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(t, () => child.kill('SIGKILL'))
  const [said] = await once(child.stdout, 'data')
  return { child, said: String(said).trim() }
}

test('a source is locked once, and free again when the lock is closed', async () => {
  await using made = await makeFolder()
  const folder = join(made.folder, 'sources', 'tides')
  const lock = lockSource(folder)
  assert.ok(lock)
  assert.equal(lockSource(folder), undefined)
  assert.equal(lockSource(folder), undefined, 'a look takes no lock away')
  const other = lockSource(join(made.folder, 'sources', 'winds'))
  assert.ok(other, 'another source has another lock')
  other.close()
  lock.close()
  const again = lockSource(folder)
  assert.ok(again)
  again.close()
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.equal((await stat(join(folder, 'lock.db'))).mode & 0o777, 0o600)
})

test('a source that another process runs waits until that one is killed', async (t) => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source])
  const { child, said } = await hold(t, join(bed.folder, 'tides'))
  assert.equal(said, 'held')
  bed.apply()
  await bed.untilStates('held-elsewhere')
  await bed.sleepThrough(5000)
  await bed.until(() => bed.clock.sleepers().includes(5000), 'it waits on')
  assert.equal(calls.length, 0)
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  bed.clock.advance(5000)
  await bed.until(() => calls.length === 1, 'it runs')

  const late = await hold(t, join(bed.folder, 'tides'))
  assert.equal(late.said, 'refused', 'and now the others wait')
})
