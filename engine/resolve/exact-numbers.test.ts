import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, requestOf, snapshotOf } from '../compile/fixture.ts'
import { parseExact } from './exact-numbers.ts'

const large = '820982911946154508'

test('a large integer keeps its digits in a template', async () => {
  const { message } = await agentOf(
    { message: 'Order {{order.id}}, {{order.total}}' },
    `{"order":{"id":${large},"total":12.5}}`,
  )
  assert.equal(message, `Order ${large}, 12.5`)
})

test('a large integer keeps its digits inside the JSON of an object, and stays a number there', async () => {
  const { message } = await agentOf({ message: '{{order}}' }, `{"order":{"id":${large},"ids":[-${large}]}}`)
  assert.equal(message, `{"id":${large},"ids":[-${large}]}`)
})

test('a large integer reaches a template through loops, blocks and helpers', async () => {
  const body = `{"ids":[1,${large}]}`
  assert.equal((await agentOf({ message: '{{#each ids}}{{this}} {{/each}}' }, body)).message, `1 ${large} `)
  assert.equal((await agentOf({ message: '{{join ids}}' }, body)).message, `1, ${large}`)
  assert.equal((await agentOf({ message: '{{#with ids.[1]}}{{json this}}{{/with}}' }, body)).message, large)
})

test('an expression sees a large integer as text', async () => {
  const { message } = await agentOf({ message: '{% $type(id) & " " & id %}' }, `{"id":${large}}`)
  assert.equal(message, `string ${large}`)
})

test('a large number that is no integer in its source stays what it was', async () => {
  const { message } = await agentOf({ message: '{{a}} {{b}}' }, '{"a":1e300,"b":123456789012345680000.5}')
  assert.equal(message, '1e+300 123456789012345680000')
})

test('rendering again counts its bytes once', async () => {
  const fixture = { hooks: { maxRenderedBytes: 30 } }
  assert.equal(
    (await agentOf({ message: '{{a}}{{id}}' }, `{"a":"aaaaaaaaaa","id":${large}}`, fixture)).message.length,
    28,
  )
})

test('a body that is no JSON leaves the payload as it was parsed', async () => {
  const request = { ...requestOf('{"a":1e17}'), rawBody: Buffer.from('a=100000000000000000') }
  const decision = await snapshotOf([{ message: '{{a}}' }]).resolve(request)
  assert.ok(decision.outcome === 'accepted')
  assert.equal(decision.actions[0]?.kind === 'agent' && decision.actions[0].message, '100000000000000000')
})

test('a body is parsed again only where it may hold a large integer', () => {
  const seen: string[] = []
  const keep = (source: string) => seen.push(source)
  assert.equal(parseExact(Buffer.from('{"a":123456789012345}'), keep), undefined)
  assert.equal(parseExact(Buffer.from('{"a":"d1234567890123456789"}'), keep), undefined)
  assert.notEqual(parseExact(Buffer.from(`{"a":[${large}, 9007199254740991]}`), keep), undefined)
  assert.deepEqual(seen, [large])
})
