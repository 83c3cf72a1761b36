/** Tests that a supervisor can make a running gateway reload its files. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { createFolder, gatewayToken, hookToken, until } from '../installation.ts'
import { bareConfiguration, build, limit, runReveille, startReveille } from './reveille-process.ts'

before(build)

/** Files are read a minute after a change, so an earlier reload was requested. */
const configuration = bareConfiguration.replace(hookToken, `${hookToken}, reload: { debounce: 60s }`)
const mapping = (text: string) =>
  `mappings:\n  - { id: bell, match: { path: bell }, action: wake, text: "${text}" }\n`

test('SIGHUP reloads the files, and the log has the result', {
  ...limit,
  skip: process.platform === 'win32',
}, async (t) => {
  const folder = await createFolder(t, {
    'reveille.yaml': configuration,
    'mappings/bell.yaml': mapping('one'),
  })
  const gateway = await startReveille(t, folder)
  const answers = () => gateway.lines().filter(({ event }) => event === 'reload-asked')
  const hangUp = async (count: number) => {
    gateway.send('SIGHUP')
    await until(() => answers().length === count || undefined, `answer ${count}`)
    const answer = answers().at(-1)
    return [answer?.['by'], answer?.['outcome'], answer?.['generation']]
  }
  assert.deepEqual(await hangUp(1), ['SIGHUP', 'unchanged', 1])
  await writeFile(join(folder, 'mappings/bell.yaml'), mapping('two'))
  assert.deepEqual(await hangUp(2), ['SIGHUP', 'live', 2])
  const swapped = gateway.lines().findLast(({ event }) => event === 'snapshot-swapped')
  assert.deepEqual([swapped?.['generation'], swapped?.['changes']], [2, '1 mapping changed (bell)'])
  await writeFile(join(folder, 'mappings/bell.yaml'), 'mappings: [{ acton: wake }]\n')
  assert.deepEqual(await hangUp(3), ['SIGHUP', 'rejected', 2])
  assert.match(String((await gateway.line('diagnostic'))['msg']), /bell\.yaml:1:14: error: .*acton/)

  // The commands reach the gateway from another process.
  const env = { REVEILLE_URL: gateway.address, REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const back = await runReveille(t, ['rollback', '1'], { cwd: folder, env })
  assert.deepEqual([back.code, back.err], [0, ''])
  assert.match(back.out, /^Generation 1 serves again/)
  assert.deepEqual(
    await hangUp(4),
    ['SIGHUP', 'rejected', 1],
    'files that are refused do not end the rollback',
  )

  gateway.send('SIGTERM')
  gateway.send('SIGHUP')
  assert.deepEqual(await gateway.ended, { code: 0, signal: null }, gateway.stderr())

  const again = await startReveille(t, folder)
  assert.equal((await again.line('snapshot-swapped'))['generation'], 1, 'the rollback holds')
})

test('with `start --poll` an edit goes live', limit, async (t) => {
  const files = {
    'reveille.yaml': configuration.replace('60s', '10ms'),
    'mappings/bell.yaml': mapping('one'),
  }
  const folder = await createFolder(t, files)
  const gateway = await startReveille(t, folder, {}, '--poll')
  await writeFile(join(folder, 'mappings/bell.yaml'), mapping('two'))
  await until(
    () =>
      gateway.lines().some(({ event, generation }) => event === 'snapshot-swapped' && generation === 2) ||
      undefined,
    'generation 2',
  )
})
