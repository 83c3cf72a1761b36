import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError, type Posted } from '@reveille/kit'
import type { MailItem, MailPost } from '../mail/index.ts'
import { postMails } from './posting.ts'
import { createStatus } from './status.ts'
import { createTestClock } from './test-bed/clock.ts'

const limits = { maxBodyBytes: 1_000_000, maxActions: 8, maxRenderedBytes: 1_000_000 }
const envelope = { source: 'gmail', account: 'ada@example.com', historyId: '1' } as const

function mailOf(id: string, body = ''): MailItem {
  const texts = { threadId: id, from: '', to: '', subject: '', date: '', snippet: '' }
  return { ...texts, id, body, bodyTruncated: false, labels: [] }
}

/** Posts to a gateway that answers by a rule, and reports the result of each mail. */
async function post(mails: readonly MailItem[], rule: (post: MailPost, count: number) => Posted | Error) {
  const clock = createTestClock()
  const { signal } = new AbortController()
  const posts: MailPost[] = []
  const taken: string[] = []
  const refused: Record<string, string> = {}
  const states: string[] = []
  let isOver = false
  const posting = {
    ...{ clock, random: () => 1, status: createStatus(({ state }) => states.push(state)) },
    call: {
      async post(_endpoint: string, body: unknown) {
        posts.push(body as MailPost)
        const answer = rule(body as MailPost, posts.length)
        if (answer instanceof Error) throw answer
        return answer
      },
      limitsOf: () => limits,
    },
    taken: (ids: readonly string[]) => void taken.push(...ids),
    refused(id: string, code: string) {
      refused[id] = code
    },
  }
  const posting_ = postMails(posting, mails, envelope, signal).finally(() => {
    isOver = true
  })
  await clock.until(() => isOver, 48 * 3_600_000)
  await posting_
  return { posts, taken, refused, states, passed: clock.passed }
}

const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => mailOf(id))

test('a post that is taken, or was taken before, is not repeated', async () => {
  for (const status of [200, 202, 204, 409]) {
    const { posts, taken, refused } = await post(six, () => ({ status }))
    assert.deepEqual([posts.length, taken, refused], [1, six.map(({ id }) => id), {}])
  }
})

test('when the gateway ignores a post of several mails, each is posted by itself', async () => {
  const reached = new Set<string>()
  const { taken, refused } = await post(six, ({ messages }) => {
    if (messages.some(({ id }) => id === 'd')) return { status: 200, isIgnored: true }
    for (const { id } of messages) reached.add(id)
    return { status: 202 }
  })
  assert.deepEqual([...reached], ['a', 'b', 'c', 'e', 'f'])
  assert.deepEqual([taken.length, refused], [6, {}])
})

for (const status of [301, 401, 403, 404, 408, 429, 500, 502, 503])
  test(`after ${status} no mail is blamed, and the same post is repeated after growing waits`, async () => {
    const { posts, taken, states, passed } = await post(six, (_, count) => ({
      status: count < 5 ? status : 202,
    }))
    assert.equal(posts.length, 5)
    assert.ok(posts.every(({ messages }) => messages.length === 6))
    assert.equal(taken.length, 6)
    assert.equal(passed, 1000 + 2000 + 4000 + 8000)
    assert.equal(states[0], [401, 403, 404].includes(status) ? 'waiting' : 'failing')
  })

test('without an answer the post is repeated too, and the wait that the gateway asks for is kept up to an hour', async () => {
  const lost = new PluginError('Nobody is there.', { code: 'network', retryable: true })
  assert.equal((await post(six, (_, count) => (count === 1 ? lost : { status: 202 }))).taken.length, 6)
  const busy = (retryAfter: number) =>
    post(six, (_, count) => ({ status: count === 1 ? 429 : 202, retryAfter }))
  assert.equal((await busy(90)).passed, 90_000)
  assert.equal((await busy(1e9)).passed, 3_600_000)
  assert.equal((await busy(0)).passed, 1000)
})

test('no wait is longer than five minutes unless the gateway asks for it', async () => {
  const { passed } = await post(six, (_, count) => ({ status: count < 21 ? 503 : 202 }))
  assert.ok(passed < 20 * 300_000 && passed > 10 * 300_000)
})

for (const [status, code] of [
  [400, 'TEMPLATE_FAILED'],
  [500, 'TRANSFORM_FAILED'],
  [500, 'TRANSFORM_REFUSED'],
  [500, 'TRANSFORM_TIMEOUT'],
  [500, 'ENGINE_FAILED'],
  [500, 'INTERNAL'],
] as const)
  test(`a mail that the gateway refuses with ${status} ${code} is isolated, and all others are taken in order`, async () => {
    const { taken, refused, posts } = await post(six, ({ messages }) =>
      messages.some(({ id }) => id === 'd') ? { status, code } : { status: 202 },
    )
    assert.deepEqual(taken, ['a', 'b', 'c', 'e', 'f'])
    assert.deepEqual(refused, { d: code })
    assert.ok(posts.length <= 8 || status === 500)
  })

for (const code of ['INTERNAL', 'TRANSFORM_TIMEOUT'])
  test(`a passing ${code} of the gateway blames no mail`, async () => {
    const { posts, taken } = await post(six, (_, count) =>
      count < 5 ? { status: 500, code } : { status: 202 },
    )
    assert.deepEqual([posts.length, taken.length], [5, 6])
  })

test('a refusal without a code is recorded by its status', async () => {
  assert.deepEqual((await post([mailOf('a')], () => ({ status: 422 }))).refused, { a: 'HTTP_422' })
})

for (const answer of [
  { status: 413 },
  { status: 422, code: 'TOO_MANY_ACTIONS' },
  { status: 422, code: 'TOO_LARGE_RENDERED' },
  { status: 500, code: 'TOO_LARGE_RENDERED' },
])
  test(`${answer.status} ${answer.code ?? ''} halves posts, and then shortens the mail that is too large alone`, async () => {
    const mails = [mailOf('a'), mailOf('b', 'x'.repeat(1000)), mailOf('c')]
    const { taken, refused, posts } = await post(mails, ({ messages }) => {
      const length = messages.reduce((sum, { body }) => sum + body.length, 0)
      return messages.length > 1 || length > 100 ? answer : { status: 202 }
    })
    assert.deepEqual(taken, ['a', 'b', 'c'])
    assert.deepEqual(refused, {})
    const last = posts.findLast(({ messages }) => messages[0]?.id === 'b')?.messages[0]
    assert.ok(last?.bodyTruncated)
  })

test('a mail that cannot be shortened any more is refused, without an endless loop', async () => {
  const { refused, posts } = await post([mailOf('a', 'x'.repeat(20_000))], () => ({ status: 413 }))
  assert.deepEqual(refused, { a: 'HTTP_413' })
  assert.ok(posts.length < 40)
})

test('an empty list of mails makes no post', async () => {
  assert.equal((await post([], () => ({ status: 500 }))).posts.length, 0)
})
