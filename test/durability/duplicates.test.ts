import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { configuration, hookToken, install } from '../installation.ts'
import { deliveryHooks, deliveryOf } from './delivery.ts'
import { testDuplicates } from './duplicates.ts'
import type { Post } from './sender.ts'

testDuplicates(3)

/** More than the store commits at once. */
const together = 1000

const hooks = `hooks:\n  enabled: true\n  token: ${hookToken}\n${deliveryHooks}`

interface Answer {
  readonly status: number
  readonly post: Post
  readonly body: { readonly outcome?: string; readonly runId?: string; readonly requestId?: string }
}

/** Posts all requests at once, each on its own connection. */
function postAll(url: string, posts: readonly Post[]): Promise<readonly Answer[]> {
  return Promise.all(
    posts.map(async (post) => {
      const headers = { authorization: `Bearer ${hookToken}`, ...post.headers }
      const body = JSON.stringify(post.body)
      const answer = await fetch(url + post.path, { method: 'POST', headers, body })
      return { status: answer.status, post, body: (await answer.json()) as Answer['body'] }
    }),
  )
}

test(`${together} simultaneous posts of one delivery cause one run, and every answer names it`, async (t) => {
  const files = { 'reveille.yaml': configuration.replace(/^hooks: .*\n/m, hooks) }
  const { gateway, read } = await install(t, files, { storeThreads: true })
  const url = await gateway.listen()
  for (const names of [['d1'], ['d2', 'd3']]) {
    const posts = names.map((name) => deliveryOf('signed', name))
    const all = Array.from({ length: together }, (_, index) => posts[index % posts.length] as Post)
    const answers = await postAll(url, all)
    const { items } = await read<Page<RunRecord>>('/api/runs?limit=500')
    const messages = names.map((name) => `delivery ${name}`)
    const runs = items.filter(({ message = '' }) => messages.includes(message))
    assert.equal(runs.length, names.length)
    for (const post of posts) {
      const own = answers.filter((answer) => answer.post === post)
      const first = own.filter(({ body }) => body.outcome === undefined)
      assert.deepEqual(
        first.map(({ status }) => status),
        [202],
        'one of them was the first',
      )
      const [{ body } = assert.fail()] = first
      assert.ok(runs.some(({ id }) => id === body.runId))
      const repeats = own.filter(({ body }) => body.outcome === 'duplicate')
      assert.equal(repeats.length, own.length - 1)
      for (const answer of repeats) {
        const { runId, requestId } = body
        assert.deepEqual(answer.body, { ok: true, outcome: 'duplicate', requestId, runId })
        assert.equal(answer.status, 200)
      }
    }
  }
  const duplicates = await read<Page<RequestRecord>>('/api/requests?limit=1&outcome=duplicate')
  const [record = assert.fail()] = duplicates.items
  const [action] = record.actions
  assert.equal(record.status, 200)
  assert.equal(record.reason, `it came before, in request ${action?.duplicateOf}`)
  const original = await read<RequestRecord>(`/api/requests/${action?.duplicateOf}`)
  assert.deepEqual([original.outcome, original.actions[0]?.id], ['accepted', action?.id])
})

test('an idempotency key is shared by all holders of the token, and conflicts with another body', async (t) => {
  const { post, read } = await install(t, {})
  const send = (message: string) =>
    post('/hooks/agent', { message, deliver: false }, { 'idempotency-key': 'k1' })
  const first = await send('one')
  assert.equal(first.status, 202)
  const again = await send('one')
  const { runId, requestId } = first.body
  assert.deepEqual([again.status, again.body], [200, { ok: true, outcome: 'duplicate', requestId, runId }])
  const other = await send('two')
  assert.deepEqual([other.status, other.body['code']], [409, 'IDEMPOTENCY_CONFLICT'])
  const record = await read<RequestRecord>(`/api/requests/${other.headers['x-request-id']}`)
  assert.deepEqual(
    [record.outcome, record.status, record.code, record.reason],
    [
      'duplicate',
      409,
      'IDEMPOTENCY_CONFLICT',
      `its key came before with another body, in request ${requestId}`,
    ],
  )
  const wake = await post('/hooks/wake', { text: 'one' }, { 'idempotency-key': 'k1' })
  assert.equal(wake.body['outcome'], undefined, 'another endpoint has keys of its own')
})
