import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { soundPresets, trySample } from '../../../test/presets/presets.ts'
import { anyText, mail } from './fixture.ts'
import { cutPosts, shortened } from './posts.ts'

const envelope = { source: 'gmail', account: 'ada@example.com', historyId: '4711' } as const
const roomy = { maxBodyBytes: 1_000_000, maxActions: 100, maxRenderedBytes: 10_000_000 }
const many = (count: number, more: Parameters<typeof mail>[0] = {}) =>
  Array.from({ length: count }, (_, index) => mail({ ...more, id: `id${index}` }))
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const sizes = (posts: readonly { messages: readonly unknown[] }[]) =>
  posts.map(({ messages }) => messages.length)

test('mails that fit go into one post, whole', () => {
  const mails = many(3)
  assert.deepEqual(cutPosts(mails, envelope, roomy), [{ ...envelope, messages: mails }])
  assert.deepEqual(cutPosts([], envelope, roomy), [])
})

test('a post is filled up to its last byte', () => {
  const mails = many(4, { subject: 'Grüße "an" alle' })
  const two = bytesOf({ ...envelope, messages: mails.slice(0, 2) })
  assert.deepEqual(sizes(cutPosts(mails, envelope, { ...roomy, maxBodyBytes: two })), [2, 2])
  assert.deepEqual(sizes(cutPosts(mails, envelope, { ...roomy, maxBodyBytes: two - 1 })), [1, 1, 1, 1])
})

test('a post holds at most as many mails as the limit of actions, and at most fifty', () => {
  assert.deepEqual(sizes(cutPosts(many(5), envelope, { ...roomy, maxActions: 2 })), [2, 2, 1])
  assert.deepEqual(sizes(cutPosts(many(120), envelope, { ...roomy, maxActions: 1_000 })), [50, 50, 20])
})

test('a mail that is too large for a post of its own is shortened, and the others are not', () => {
  const [small = mail(), other = mail()] = many(2)
  const large = mail({ id: 'large', body: 'many words '.repeat(10_000), bodyTruncated: false })
  const posts = cutPosts([small, large, other], envelope, { ...roomy, maxBodyBytes: 5_000 })
  const messages = posts.flatMap((post) => post.messages)
  assert.deepEqual([messages[0], messages[2]], [small, other])
  assert.ok(messages[1]?.bodyTruncated && messages[1].body.length > 1_000)
  for (const post of posts) assert.ok(bytesOf(post) <= 5_000)
})

test('a mail whose ids alone are too large is posted by itself', () => {
  const [post] = cutPosts([mail({ id: 'i'.repeat(5_000) })], envelope, { ...roomy, maxBodyBytes: 1_000 })
  const { id, from, body, labels } = post?.messages[0] ?? mail()
  assert.deepEqual([id.length, from, body, labels], [5_000, '', '', []])
})

test('no mail is lost, doubled or moved, and every post keeps all limits', () => {
  const text = anyText(200).map((each) => each.toWellFormed())
  const mails = fc.array(fc.record({ from: text, subject: text, body: text.map((each) => each.repeat(9)) }), {
    maxLength: 70,
  })
  const limits = fc.record({
    maxBodyBytes: fc.integer({ min: 600, max: 30_000 }),
    maxActions: fc.integer({ min: 1, max: 60 }),
    maxRenderedBytes: fc.integer({ min: 1, max: 100_000 }),
  })
  fc.assert(
    fc.property(mails, limits, (made, limits) => {
      const posts = cutPosts(
        made.map((each, index) => mail({ ...each, id: `id${index}` })),
        envelope,
        limits,
      )
      const ids = posts.flatMap(({ messages }) => messages.map(({ id }) => id.slice(2)))
      assert.deepEqual(ids, Object.keys(made))
      for (const post of posts) {
        assert.ok(bytesOf(post) <= limits.maxBodyBytes)
        assert.ok(post.messages.length > 0 && post.messages.length <= Math.min(50, limits.maxActions))
        for (const each of post.messages)
          assert.ok(made[Number(each.id.slice(2))]?.body.startsWith(each.body))
      }
    }),
    { numRuns: 40 },
  )
})

test('the prompt that the preset renders from a post is within the limit that the post was cut for', async () => {
  const texts = ['short', 'many words '.repeat(3_000), '日本語'.repeat(5_000), '😀'.repeat(7_000), '']
  const large = many(25).map((each, index) => ({ ...each, body: texts[index % texts.length] ?? '' }))
  const small = many(25, { body: 'Yes.' })
  const cases = [[small, 20_000] as const, [large, 60_000] as const, [large, 262_144] as const]
  for (const [mails, maxRenderedBytes] of cases) {
    const { snapshot } = await soundPresets(['gmail'], { ...roomy, maxRenderedBytes })
    const posts = cutPosts(mails, envelope, { ...roomy, maxRenderedBytes })
    assert.ok(posts.length > 1 && posts.length < 25)
    for (const post of posts) {
      const sample = { name: 'post', headers: {}, body: JSON.stringify(post) }
      assert.equal((await trySample(snapshot, 'gmail', sample)).status, 202)
    }
  }
})

test('the body is shortened first, by halves, and the mail says that it is cut', () => {
  const shorter = shortened(mail({ body: 'one two three four five six seven eight' }))
  assert.deepEqual(shorter, mail({ body: 'one two three four', bodyTruncated: true }))
})

test('a mail without a body loses its other texts, and does not say that its body is cut', () => {
  const order = new Set<string>()
  let last = mail({ body: '' })
  for (let next = shortened(last); next !== undefined; last = next, next = shortened(next)) {
    assert.equal(next.bodyTruncated, false)
    const [from, to] = [Object.entries(last), Object.entries(next)].map((each) => each.map(String))
    const changed = Object.keys(next).filter((_, index) => from?.[index] !== to?.[index])
    assert.equal(changed.length, 1)
    order.add(changed.join())
  }
  assert.deepEqual([...order], ['snippet', 'subject', 'to', 'from', 'date', 'labels'])
})

test('each step makes the mail smaller, the ids stay, and in the end nothing else is left', () => {
  const text = anyText(300)
  const texts = fc.record({ id: text, threadId: text, from: text, to: text, subject: text, snippet: text })
  const labels = fc.array(text, { maxLength: 9 })
  const others = fc.record({ date: text, body: text, bodyTruncated: fc.boolean(), labels })
  const mails = fc.tuple(texts, others).map(([some, more]) => mail({ ...some, ...more }))
  fc.assert(
    fc.property(mails, (first) => {
      let last = first
      for (let next = shortened(last); next !== undefined; last = next, next = shortened(next)) {
        assert.ok(JSON.stringify(next).length < JSON.stringify(last).length)
        assert.deepEqual([next.id, next.threadId], [first.id, first.threadId])
      }
      const { id, threadId, bodyTruncated, ...rest } = last
      assert.deepEqual(rest, { from: '', to: '', subject: '', date: '', snippet: '', body: '', labels: [] })
      assert.equal(bodyTruncated, first.bodyTruncated || first.body !== '')
    }),
    { numRuns: 40 },
  )
})
