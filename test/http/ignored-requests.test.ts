/** Tests that an ignored request can be looked at, tested and replayed for a while, from the moment at which its reply names it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, RequestRecord } from '../../runtime/store/port.ts'
import { configuration, install, until } from '../installation.ts'

type Listed = RequestRecord & { readonly bodyKept: boolean }

const mapping = (action: string) => `mappings:
  - { id: bugs, match: { path: issues, body: { action: ${action} } }, deliver: false, message: "{{title}}" }
  - { id: none, match: { path: lists }, deliver: false, forEach: "[]", message: "x" }
`
const files = (history = '') => ({
  'reveille.yaml': `${configuration}${history && `history: ${history}\n`}`,
  'mappings/issues.yaml': mapping('labelled'),
})

test('an ignored or skipped request is there at once, with its body, and becomes a test and a run', async (t) => {
  const { post, ask, read, write } = await install(t, files())
  for (let time = 0; time < 20; time += 1) {
    const { body } = await post('/hooks/issues', { action: 'closed', title: 'A bug' })
    const record = await read<Listed>(`/api/requests/${body['requestId']}`)
    assert.deepEqual([record.outcome, record.bodyKept], ['ignored', true])
  }
  const skipped = (await post('/hooks/lists', {})).body['requestId']
  assert.deepEqual((await read<Listed>(`/api/requests/${skipped}`)).bodyKept, true)

  const id = String((await post('/hooks/issues', { action: 'labeled', title: 'A bug' })).body['requestId'])
  assert.match((await ask(`/api/requests/${id}/as-test`)).text, /outcome: ignored/)
  assert.equal((await ask(`/api/requests/${id}/explain?generation=live`)).status, 200)
  await write('mappings/issues.yaml', mapping('labeled'))
  await ask('/api/reload', { method: 'POST' })
  const replayed = await ask(`/api/requests/${id}/replay`, { method: 'POST', payload: '{}' })
  assert.equal(replayed.body['outcome'], 'accepted')
})

test('no body of an ignored request is kept with `bodies: none`', async (t) => {
  const { post, ask, read } = await install(t, files('{ bodies: none }'))
  const id = (await post('/hooks/issues', {})).body['requestId']
  assert.equal((await read<Listed>(`/api/requests/${id}`)).bodyKept, false)
  assert.equal((await ask(`/api/requests/${id}/as-test`)).status, 409)
  await until(async () => {
    const { items } = await read<Page<Listed>>('/api/requests')
    return items.length === 1 && items[0]?.bodyKept === false ? items : undefined
  }, 'its place in the list')
})
