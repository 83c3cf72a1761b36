/** Tests rollbacks with a whole gateway: mappings and transforms are as they were, before and after a restart. */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ReloadResult } from '@reveille/engine'
import { createGateway } from '../../runtime/index.ts'
import { atEnd } from '../at-end.ts'
import { hookToken, type Installation, install } from '../installation.ts'

const limit = { timeout: 30_000 }
const mapping =
  'mappings: [{ id: bell, match: { path: bell }, action: wake, text: rung, transform: { module: bell.ts } }]\n'
const transform = (text: string) =>
  `import { name } from './name.ts'\nexport default () => ({ text: name + ' ${text}' })\n`
const named = (name: string) => `export const name: string = '${name}'\n`

async function act({ ask }: Installation, path: string): Promise<ReloadResult> {
  const { status, body, text } = await ask(path, { method: 'POST' })
  assert.equal(status, 200, text)
  return body as unknown as ReloadResult
}

test(
  'a rollback restores the stored bundle of a transform with its imports, also after a restart',
  limit,
  async (t) => {
    const installed = await install(t, {
      'mappings/bell.yaml': mapping,
      'transforms/bell.ts': transform('one'),
      'transforms/name.ts': named('ada'),
    })
    const { folder, gateway, write, post, read } = installed
    const ring = async () => {
      const { body } = await post('/hooks/bell', {})
      return (await read<{ text: string }>(`/api/events/${body['eventId']}`)).text
    }
    assert.equal(await ring(), 'ada one')
    await write('transforms/name.ts', named('bob'))
    const imported = await act(installed, '/api/reload')
    assert.deepEqual([imported.generation, imported.changes.transforms.changed], [2, ['bell.ts']])
    await write('transforms/bell.ts', transform('three'))
    assert.equal((await act(installed, '/api/reload')).generation, 3)
    assert.equal(await ring(), 'bob three')

    const back = await act(installed, '/api/generations/1/rollback')
    assert.deepEqual(
      [back.generation, back.rolledBack, back.changes.transforms.changed],
      [1, true, ['bell.ts']],
    )
    assert.equal(await ring(), 'ada one')
    const bundles = (await readdir(join(folder, 'data', 'transforms'))).filter((name) =>
      name.endsWith('.mjs'),
    )
    assert.equal(bundles.length, 3, 'every kept generation has its own')
    await gateway.close({ graceMs: 0 })

    const next = await createGateway({
      configFile: join(folder, 'reveille.yaml'),
      env: {},
      watch: false,
      logStream: { write() {} },
    })
    atEnd(t, () => next.close({ graceMs: 0 }))
    assert.equal(next.current().generation, 1)
    const headers = { authorization: `Bearer ${hookToken}` }
    const { statusCode } = await next.inject({ method: 'POST', url: '/hooks/bell', headers, payload: '{}' })
    assert.equal(statusCode, 200)
    await write('transforms/bell.ts', transform('four'))
    const forward = await next.reload()
    assert.deepEqual([forward.outcome, forward.generation], ['live', 4])
  },
)
