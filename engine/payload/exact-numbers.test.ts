import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOf, compileFixture, requestOf, snapshotOf } from '../compile/fixture.ts'
import { processorMs } from '../resolve/model/processor-time.ts'
import { parseTexts } from './exact-numbers.ts'

const large = '820982911946154508'

const other = '820982911946154509'
const several = `{"a":${large},"b":${large},"c":${other},"text":"${large}","n":7,"list":[${other},${large}]}`
const compared = `{{eq a b}} {{eq a c}} {{eq a text}} {{eq a n}} {{eq n 7}}{{#each list}}{{#if (eq this ../a)}} {{@index}}{{/if}}{{/each}}`
const ids = `{"ids":[1,${large}]}`

/** The treatment of a large integer, a message, a body, and the rendered message. */
const cases: readonly (readonly [string, string, string, string])[] = [
  ['keeps its digits', 'Order {{a.id}}, {{a.b}}', `{"a":{"id":${large},"b":12.5}}`, `Order ${large}, 12.5`],
  ['is a string in JSON', '{{a}}', `{"a":{"b":[-${large}]}}`, `{"b":["-${large}"]}`],
  ['is compared by its digits', compared, several, 'true false true false true 1'],
  ['is compared by them later', `{{a}} ${compared}`, several, `${large} true false true false true 1`],
  ['is no list', '{{a}} {{#each a}}{{this}}{{else}}none{{/each}}', `{"a":${large}}`, `${large} none`],
  ['is an element of a loop', '{{#each ids}}{{this}} {{/each}}', ids, `1 ${large} `],
  ['is joined', '{{join ids}}', ids, `1, ${large}`],
  ['is the value of a block', '{{#with ids.[1]}}{{this}}{{/with}}', ids, large],
  ['is text in an expression', '{% $type(id) & " " & id %}', `{"id":${large}}`, `string ${large}`],
  [
    'is written as one',
    '{{a}} {{b}}',
    '{"a":1e300,"b":12345678901234568000.5}',
    '1e+300 12345678901234567000',
  ],
]

for (const [what, message, body, expected] of cases)
  test(`a large integer ${what}`, async () =>
    assert.equal((await agentOf({ message }, body)).message, expected))

test('the shortest large integer is noticed anywhere in the body', () => {
  const shortest = '9007199254740992'
  for (let length = 0; length < 40; length++) {
    const body = `{"text":"${'x'.repeat(length)}","id":${shortest}}`
    for (const each of [body, Buffer.from(body)])
      assert.deepEqual(parseTexts(each), { text: 'x'.repeat(length), id: shortest })
  }
})

test('a number in a template that would lose digits is refused at load', async () => {
  const compiled = await compileFixture([{ message: `{{#if (eq a ${large})}}x{{/if}}` }])
  assert.ok(!compiled.ok)
  const { code, message } = compiled.diagnostics[0] ?? assert.fail()
  assert.match(`${code} ${message}`, /^TEMPLATE_SYNTAX .*beyond 2\^53/)
  assert.equal((await compileFixture([{ message: '{{eq a 9007199254740991}}' }])).ok, true)
})

test('the digits count', async () => {
  const fixture = { hooks: { maxRenderedBytes: 30 } }
  const { message } = await agentOf({ message: '{{a}}{{id}}' }, `{"a":"aaaaaaaaaa","id":${large}}`, fixture)
  assert.equal(message.length, 28)
})

test('a body that is not JSON leaves the payload as it was parsed', async () => {
  const request = { ...requestOf('{"a":1e17}'), rawBody: Buffer.from('a=100000000000000000') }
  const decision = await (await snapshotOf([{ message: '{{a}}' }])).resolve(request)
  assert.ok(decision.outcome === 'accepted')
  assert.equal(decision.actions[0]?.kind === 'agent' && decision.actions[0].message, '100000000000000000')
})

test('a body is parsed again only if it holds a large integer', () => {
  for (const value of ['123456789012345', '"d1234567890123456789"', '" 1234567890123456789"'])
    assert.equal(parseTexts(Buffer.from(`{"a":${value}}`)), undefined, value)
  const parsed = parseTexts(Buffer.from(`{"a":[${large}, 9007199254740991]}`))
  assert.deepEqual(parsed, { a: [large, 9007199254740991] })
})

test('a byte order mark does not change the digits of an integer', async () => {
  const body = `\ufeff{"id":${large}}`
  const request = { ...requestOf({}), payload: { id: Number(large) }, rawBody: Buffer.from(body) }
  const decision = await (await snapshotOf([{ message: 'Order {{id}}' }])).resolve(request)
  assert.equal(decision.outcome === 'accepted' && decision.actions[0]?.prompt, `Order ${large}`)
  assert.deepEqual(parseTexts(Buffer.from(`\ufeff${large}`)), large)
})

test('only whole integers outside of texts keep their source, in any position', () => {
  const body = `{"${large}": "\\"${large}", "b\\\\": ${large}, "c": [ -${large},${large}e1,1.${large},1e-${large}, ${large}.5],
    "d": "\\\\\\"[${large}", "e": "[${large}]", "__proto__": ${large}}`
  const parsed = JSON.parse(body)
  const expected = { ...parsed, 'b\\': large, c: [`-${large}`, ...parsed.c.slice(1)] }
  Object.defineProperty(expected, '__proto__', { value: large, enumerable: true })
  assert.equal(JSON.stringify(parseTexts(Buffer.from(body))), JSON.stringify(expected))
})

test('a long body with one large integer is parsed again about as fast as the first time', () => {
  const body = Buffer.from(`{"id":${large},"rest":[${'1,'.repeat(400_000)}1]}`)
  const begun = processorMs()
  JSON.parse(body.toString())
  const once = processorMs() - begun
  parseTexts(body)
  const again = processorMs() - begun - once
  assert.ok(again < 20 * Math.max(once, 5), `${again} ms after ${once} ms`)
})
