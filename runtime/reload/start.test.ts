import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLoader } from '@reveille/engine'
import { install } from '../../test/installation.ts'
import { loadStart } from './start.ts'

const bell = 'mappings: [{ id: bell, match: { path: bell }, message: ring }]\n'

test('a start waits for a mapping file that vanished since the last one, and continues with the files it finds then', async (t) => {
  const { folder, gateway } = await install(t, {
    'mappings/bell.yaml': bell,
    'mappings/door.yaml': bell.replaceAll('bell', 'door'),
  })
  await gateway.close({ graceMs: 0 })
  const file = join(folder, 'mappings/bell.yaml')
  const startWith = async (pause: (ms: number) => Promise<unknown>) => {
    const options = { file: join(folder, 'reveille.yaml'), env: {}, whole: false, pause }
    const loader = createLoader(options)
    t.after(() => loader.close())
    return (await loadStart(loader, options)).configuration.mappings.map(({ id }) => id)
  }
  const pauses: number[] = []
  assert.deepEqual(await startWith(async (ms) => pauses.push(ms)), ['bell', 'door'])
  assert.equal(pauses.length, 0, 'unchanged files are believed at once')

  await rename(file, `${file}~`)
  const back = async (ms: number) => {
    pauses.push(ms)
    if (pauses.length === 1) await rename(`${file}~`, file)
  }
  assert.deepEqual(await startWith(back), ['bell', 'door'])
  assert.deepEqual(pauses, [1000])

  await rename(file, `${file}~`)
  assert.deepEqual(await startWith(async (ms) => pauses.push(ms)), ['door'])
  assert.deepEqual(pauses, [1000, 1000])
})
