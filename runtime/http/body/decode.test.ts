import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJson, decodePayload, harmlessLength, maxDepth, nestsTooDeep } from './decode.ts'
import { maxFields } from './fields.ts'

const form = 'application/x-www-form-urlencoded'

function refusal(code: string) {
  return { name: 'RequestError', code }
}

test('JSON is taken whatever the content type says', async () => {
  for (const type of [undefined, 'text/plain', 'application/json; charset=utf-8', form, 'nonsense']) {
    assert.deepEqual(await decodePayload(Buffer.from(' {"a":[1]}'), type), { payload: { a: [1] } }, type)
  }
})

test('a mapped endpoint takes any JSON value, and nothing at all as an empty object', async () => {
  assert.equal((await decodePayload(Buffer.from('null'), undefined)).payload, null)
  assert.deepEqual((await decodePayload(Buffer.from('[1]'), undefined)).payload, [1])
  for (const blank of ['', ' \r\n\t', '\ufeff'])
    assert.deepEqual((await decodePayload(Buffer.from(blank), undefined)).payload, {})
})

test('a body that begins like JSON and is none is refused whatever the content type says', async () => {
  const bodies = ['{bad', "{'action': 'opened'}", '{"order":{"id":"a7"},}', ' \n[1,2', '\ufeff{"a":1']
  for (const type of [undefined, 'text/plain', 'application/json', form])
    for (const text of bodies) {
      const decoding = decodePayload(Buffer.from(text), type)
      await assert.rejects(decoding, refusal('INVALID_JSON'), `${type} ${text}`)
    }
})

test('a form is decoded, with lists for repeated names', async () => {
  assert.deepEqual(
    { ...((await decodePayload(Buffer.from('a=1&a=2&b=x+y'), `${form}; charset=utf-8`)).payload as object) },
    {
      a: ['1', '2'],
      b: 'x y',
    },
  )
})

test('a form field named payload that holds JSON is unwrapped; any other stays a field', async () => {
  const wrapped = new URLSearchParams({ payload: '{"action":"opened"}' }).toString()
  const decoded = { payload: { action: 'opened' }, unwrapped: '{"action":"opened"}' }
  assert.deepEqual(await decodePayload(Buffer.from(wrapped), form), decoded)
  for (const text of ['payload=hello', 'payload=5', 'payload=%7Bbroken']) {
    const { payload } = await decodePayload(Buffer.from(text), form)
    assert.ok(Object.hasOwn(payload as object, 'payload'), text)
  }
})

test('a form with too many fields is refused', async () => {
  await assert.rejects(decodePayload(Buffer.from('a&'.repeat(maxFields)), form), refusal('TOO_MANY_FIELDS'))
})

test('an object with tens of thousands of keys is refused, in a form too; a list of as many objects is not', async () => {
  const keys = Array.from({ length: 30_000 }, (_, index) => `"k${index}":0`)
  const body = `{"a":{${keys.join()}}}`
  await assert.rejects(decodeJson(Buffer.from(body)), refusal('TOO_MANY_FIELDS'))
  await assert.rejects(decodePayload(Buffer.from(body), form), refusal('TOO_MANY_FIELDS'))
  await assert.rejects(decodePayload(Buffer.from(`payload=${body}`), form), refusal('TOO_MANY_FIELDS'))
  const { payload } = await decodeJson(Buffer.from(`[${keys.map((key) => `{${key}}`).join()}]`))
  assert.equal((payload as unknown[]).length, 30_000)
})

test('a byte order mark is dropped', async () => {
  assert.deepEqual(await decodeJson(Buffer.from('\ufeff{"a":1}')), { payload: { a: 1 } })
})

test('invalid UTF-8 is refused, and an escaped half of a surrogate pair is not', async () => {
  await assert.rejects(decodeJson(Buffer.from([0x22, 0xff, 0x22])), refusal('INVALID_TEXT'))
  await assert.rejects(decodeJson(Buffer.from('"a"', 'utf16le')), refusal('INVALID_JSON'))
  assert.deepEqual(await decodeJson(Buffer.from('"\\ud800"')), { payload: '\ud800' })
})

test('broken JSON is refused with a message that does not quote it', async () => {
  for (const text of ['{"canary":', 'canary', '', "{'canary':1}"]) {
    await assert.rejects(
      decodeJson(Buffer.from(text)),
      (error: Error) => error.message === 'The body is not valid JSON.' && error.cause === undefined,
      text,
    )
  }
})

test('a __proto__ key is a key like any other', async () => {
  const decoded = await decodeJson(Buffer.from('{"__proto__":{"polluted":1}}'))
  const payload = decoded.payload as object
  assert.equal(Object.getPrototypeOf(payload), Object.prototype)
  assert.equal('polluted' in payload, false)
  assert.equal('polluted' in {}, false)
})

test('a megabyte of brackets is refused before it is parsed, in a form too', async () => {
  const bomb = '['.repeat(500_000) + ']'.repeat(500_000)
  await assert.rejects(decodeJson(Buffer.from(bomb)), refusal('NESTED_TOO_DEEP'))
  await assert.rejects(decodePayload(Buffer.from(bomb), form), refusal('NESTED_TOO_DEEP'))
  await assert.rejects(decodePayload(Buffer.from(`payload=${bomb}`), form), refusal('NESTED_TOO_DEEP'))
})

test('a small body may nest as it likes', async () => {
  const { payload } = await decodeJson(Buffer.from('['.repeat(30_000) + ']'.repeat(30_000)))
  assert.ok(Array.isArray(payload))
})

const long = ' '.repeat(harmlessLength)

test('nesting is bounded, of lists and of objects alike', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}${long}`
    assert.equal(nestsTooDeep(nested(maxDepth)), false)
    assert.equal(nestsTooDeep(nested(maxDepth + 1)), true)
  }
})

test('what stands side by side, or within a text, does not nest', () => {
  assert.equal(nestsTooDeep(`[${'[],{},'.repeat(maxDepth)}0]${long}`), false)
  assert.equal(nestsTooDeep(`"\\"${'['.repeat(2 * maxDepth)}\\\\"${long}`), false)
  assert.equal(nestsTooDeep(`"\\\\"${'['.repeat(2 * maxDepth)}${long}`), true)
})
