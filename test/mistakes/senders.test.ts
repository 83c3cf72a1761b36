/** Tests that no mistake of a sender passes in silence: its answer, the record of its request or an issue says what was wrong. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hookToken, type Installation, install, until } from '../installation.ts'
import { type Accepted, files, mistakes, order, silent, understood } from './senders.ts'

type Send = Partial<Accepted> & Pick<Accepted, 'path' | 'body'>

/** Each request is one of another client, because a client that was wrong too often has to wait. */
async function open(t: TestContext) {
  const installed = await install(t, files)
  let client = 0
  async function send({ method, path, headers, body }: Send) {
    client += 1
    const given: Record<string, string> = {
      'content-type': 'application/json',
      ...(headers ?? { authorization: `Bearer ${hookToken}` }),
    }
    if (given['content-type'] === '') delete given['content-type']
    const answer = await installed.gateway.inject({
      method: method ?? 'POST',
      url: `/hooks/${path}`,
      headers: given,
      payload: body,
      remoteAddress: `127.1.${client >> 8}.${client & 255}`,
    })
    return { status: answer.statusCode, text: answer.payload, body: JSON.parse(answer.payload) }
  }
  return { ...installed, send }
}

interface Issue {
  readonly key: string
  readonly cause: string
}

async function isOpen({ read }: Installation, key: string, cause: string): Promise<true | undefined> {
  const { items } = await read<{ items: Issue[] }>('/api/issues?state=open')
  return items.some((issue) => issue.key === key && issue.cause.includes(cause)) || undefined
}

test('each mistake of a sender is seen: in the answer, in the record of the request or as an issue', async (t) => {
  const gateway = await open(t)
  for (const mistake of mistakes) {
    await t.test(mistake.name, async () => {
      const { answer, says = '', record = '', issue } = mistake
      if (issue)
        await gateway.ask('/api/issues/resolve', {
          method: 'POST',
          payload: JSON.stringify({ key: issue[0] }),
        })
      const { status, text, body } = await gateway.send(mistake)
      assert.deepEqual([status, body.code ?? body.outcome ?? ''], answer)
      assert.ok(
        JSON.stringify([body.error, body.reason, body.details, body.warnings]).includes(inJson(says)),
        `"${says}" is not in ${text}`,
      )
      await until(async () => {
        const { status, text } = await gateway.ask(`/api/requests/${body.requestId}`)
        return (status === 200 && text.includes(inJson(record))) || undefined
      }, `"${record}" in the record of the request`)
      if (issue) await until(() => isOpen(gateway, ...issue), `the issue ${issue.join(': ')}`)
    })
  }
})

for (const [rows, what] of [
  [understood, 'what senders often send is read as it was meant'],
  [silent, 'what stays silent is known, and has a reason'],
] as const)
  test(what, async (t) => {
    const gateway = await open(t)
    for (const row of rows) {
      await t.test('why' in row ? `${row.name}, because ${row.why}` : row.name, async () => {
        const { status, text, body } = await gateway.send(row)
        assert.equal(status, 202, text)
        assert.equal(
          (await gateway.read<{ message: string }>(`/api/runs/${body.runId}`)).message,
          row.message,
        )
      })
    }
  })

test('a second event with the key of an earlier one is a duplicate, and the record says whether the bodies differ', async (t) => {
  const gateway = await open(t)
  const reasonOf = async (body: string) => {
    const answer = await gateway.send({ path: 'once', body })
    assert.deepEqual([answer.status, answer.body.outcome], [200, 'duplicate'])
    const { items } = await gateway.read<{ items: { reason: string }[] }>(
      '/api/requests?outcome=duplicate&limit=1',
    )
    return items[0]?.reason ?? ''
  }
  assert.equal((await gateway.send({ path: 'once', body: order })).status, 202)
  assert.match(await reasonOf(order), /^it came before, in request /)
  assert.match(await reasonOf('{"id":7,"total":99}'), /but the bodies differ$/)
})

test('a body that cannot be read opens an issue for a known sender alone, and the next that can be ends it', async (t) => {
  const gateway = await open(t)
  const key = 'BODY_REFUSED:orders'
  assert.equal((await gateway.send({ path: 'orders', headers: {}, body: '{' })).status, 401)
  assert.equal(
    (
      await gateway.send({
        path: 'github',
        headers: { 'x-hub-signature-256': 'x' },
        body: 'x'.repeat(30_000),
      })
    ).status,
    413,
  )
  assert.equal((await gateway.send({ path: 'orders', body: '{' })).status, 400)
  await until(() => isOpen(gateway, key, 'it ends too early'), key)
  assert.equal(await isOpen(gateway, 'BODY_REFUSED:github', ''), undefined)
  assert.equal((await gateway.send({ path: 'orders', body: order })).status, 202)
  await until(async () => ((await isOpen(gateway, key, '')) ? undefined : true), 'the end of the issue')
})

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
