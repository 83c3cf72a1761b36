import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from './any-text.ts'
import { mail } from './fixture.ts'
import { shortened } from './shortened.ts'

test('the body goes first, by halves, and it is said', () => {
  const shorter = shortened(mail({ body: 'one two three four five six seven eight' }))
  assert.deepEqual(shorter, mail({ body: 'one two three four', bodyTruncated: true }))
})

test('without a body the other texts go, and no body is said to be cut', () => {
  const order: string[] = []
  for (
    let at = shortened(mail({ body: '' })), last = mail({ body: '' });
    at !== undefined;
    last = at, at = shortened(at)
  ) {
    assert.equal(at.bodyTruncated, false)
    const changed = Object.entries(at).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(last[name as 'id']),
    )
    assert.equal(changed.length, 1)
    order.push(changed[0]?.[0] ?? '')
  }
  assert.deepEqual([...new Set(order)], ['snippet', 'subject', 'to', 'from', 'date', 'labels'])
})

test('whatever the mail, each step is smaller, the ids stay, and at the end nothing else is left', () => {
  const text = anyText(300)
  const mails = fc.record({
    id: text,
    threadId: text,
    from: text,
    to: text,
    subject: text,
    date: text,
    snippet: text,
    body: text,
    bodyTruncated: fc.boolean(),
    labels: fc.array(text, { maxLength: 9 }),
  })
  fc.assert(
    fc.property(mails, (first) => {
      let last = first as ReturnType<typeof mail>
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
