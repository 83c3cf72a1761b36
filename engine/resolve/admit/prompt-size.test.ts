import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, type Mapping, refusalOf, requestOf, snapshotOf } from '../../compile/fixture.ts'

const loop: Mapping = { message: '{{#each a}}{{this}}{{/each}}' }
const marks = (count: number) => ({ a: Array.from({ length: count }, (_, index) => '!?;…'[index % 4]) })

test('many short values do not make a prompt many times longer than the rendered text', async () => {
  const limit = 262_144
  const { message, prompt } = await agentOf(loop, marks(5_000))
  assert.ok(message.length === 5_000 && prompt.length < limit)
  const refusal = await refusalOf({ ...loop, id: 'm' }, marks(60_000))
  assert.equal(refusal.code, 'TOO_LARGE_RENDERED')
  assert.match(
    refusal.message,
    /^mapping "m": message: .*names.*\(maxRenderedBytes, of its endpoint or of hooks\)/,
  )
  assert.equal(refusal.details[0]?.pointer, '/message')
  const digits = { a: Array.from({ length: 60_000 }, () => 7) }
  assert.equal((await agentOf(loop, digits)).prompt, '7'.repeat(60_000))
})

test('the names of fenced values are counted over all actions of a request', async () => {
  const snapshot = snapshotOf([{ ...loop, forEach: '[1..20]' }])
  const decision = await snapshot.resolve(requestOf(marks(2_000)))
  assert.equal(decision.outcome === 'refused' && decision.code, 'TOO_LARGE_RENDERED')
})

test('a low limit on rendered bytes leaves room for the names of a few values', async () => {
  const { prompt } = await agentOf({ message: '{{a}}' }, { a: 'Do it.' }, { hooks: { maxRenderedBytes: 6 } })
  assert.match(prompt, /^\[a\]\n/)
})
