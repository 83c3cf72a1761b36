/** The guard in a whole gateway: what was delivered comes back through a hook, also after a restart. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { atEnd } from '../../test/at-end.ts'
import { hookToken, install, until } from '../../test/installation.ts'
import { createGateway } from '../index.ts'
import type { DeliveryRecord, RequestRecord } from '../store/port.ts'

const mapping = `mappings:
  - id: spoken
    match: { path: chat }
    message: "Somebody wrote: {{text}}"
    wakeMode: next-heartbeat
`

test('a delivered reply that comes back through a hook is ignored, also after a restart', async (t) => {
  const { folder, gateway, post, ended, read } = await install(t, { 'mappings/chat.yaml': mapping })
  const asked = await post('/hooks/chat', { text: 'Is the build green?' })
  const run = await ended(asked.body['runId'])
  const { text } = await read<DeliveryRecord>(`/api/deliveries/${run.deliveryIds[0]}`)

  const echo = { event: { kind: 'message', text: `${text}\n` } }
  const { status, body, headers } = await post('/hooks/chat', echo)
  const reason = 'it repeats what this gateway delivered within the last 24 hours'
  const requestId = headers['x-request-id']
  assert.deepEqual(
    { status, body },
    { status: 200, body: { ok: true, outcome: 'ignored', reason, requestId } },
  )
  // It is noted without the reply waiting for it.
  const record = await until(async () => {
    const found = await read<Partial<RequestRecord>>(`/api/requests/${headers['x-request-id']}`)
    return found.outcome && found
  }, 'the record of the request')
  assert.deepEqual([record.outcome, record.reason, record.actions], ['ignored', reason, []])
  assert.equal((await post('/hooks/chat', { text: `${text} Thank you.` })).status, 202)
  assert.equal((await post('/hooks/agent', { message: text })).status, 202)
  const fromRun = await post('/hooks/agent', { message: 'and on' }, { 'x-reveille-run': run.id })
  assert.deepEqual([fromRun.status, fromRun.body['outcome']], [200, 'ignored'])
  await gateway.close({ graceMs: 0 })

  const next = await createGateway({ configFile: join(folder, 'reveille.yaml'), env: {}, watch: false })
  atEnd(t, () => next.close({ graceMs: 0 }))
  const again = await next.inject({
    method: 'POST',
    url: '/hooks/chat',
    headers: { authorization: `Bearer ${hookToken}` },
    payload: echo,
  })
  assert.equal(again.json().reason, reason)
})
