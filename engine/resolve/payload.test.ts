import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxFields } from '../payload/form.ts'
import { decodePayload as decode, isLongToRead } from './payload.ts'

const form = 'application/x-www-form-urlencoded'
const fieldsOf = (text: string) => decodePayload(Buffer.from(text), form).payload as Record<string, unknown>

function refusal(code: string) {
  return { name: 'RefusalError', code }
}

const decodePayload = (body: Uint8Array, type?: string) => decode('github', body, type)
const decodeJson = (body: Uint8Array) => decode('agent', body, undefined)

test('JSON is taken whatever the content type says, any value at a mapped endpoint, and an empty body as an empty object', () => {
  for (const type of [undefined, 'text/plain', 'application/json; charset=utf-8', form, 'nonsense'])
    assert.deepEqual(decodePayload(Buffer.from(' {"a":[1]}'), type), { payload: { a: [1] } }, type)
  for (const [text, payload] of [
    ['null', null],
    ['[1]', [1]],
    ...['', ' \r\n\t', '\ufeff'].map((blank) => [blank, {}] as const),
  ] as const)
    assert.deepEqual(decodePayload(Buffer.from(text), undefined).payload, payload)
})

test('a body that begins like JSON and is not JSON is refused whatever the content type says', () => {
  const bodies = ['{bad', "{'action': 'opened'}", '{"order":{"id":"a7"},}', ' \n[1,2', '\ufeff{"a":1']
  for (const type of [undefined, 'text/plain', 'application/json', form])
    for (const text of bodies)
      assert.throws(() => decodePayload(Buffer.from(text), type), refusal('INVALID_JSON'), `${type} ${text}`)
})

test('a form is decoded, with lists for repeated names, and its field named payload is unwrapped if it holds JSON', () => {
  const { payload } = decodePayload(Buffer.from('a=1&a=2&b=x+y'), `${form}; charset=utf-8`)
  assert.deepEqual({ ...(payload as object) }, { a: ['1', '2'], b: 'x y' })
  const unwrapped = '\ufeff{"id":9007199254740993}'
  const wrapped = decodePayload(Buffer.from(`${new URLSearchParams({ payload: unwrapped })}`), form)
  assert.deepEqual(wrapped, { payload: { id: Number('9007199254740993') }, unwrapped: unwrapped.slice(1) })
  for (const text of ['payload=hello', 'payload=5', 'payload=%7Bbroken&more=1'])
    assert.ok(Object.hasOwn(decodePayload(Buffer.from(text), form).payload as object, 'payload'), text)
  assert.throws(() => decodePayload(Buffer.from('payload=%7Bbroken'), form), refusal('INVALID_JSON'))
  assert.throws(() => fieldsOf('a&'.repeat(maxFields)), refusal('TOO_MANY_FIELDS'))
})

test('pluses, escapes and names of a form are read as the platform reads them, and none reaches a prototype', () => {
  assert.deepEqual({ ...fieldsOf('a=b+c%20d&e=%zz&f=1&f=2&f=') }, { a: 'b c d', e: '%zz', f: ['1', '2', ''] })
  for (const text of ['a=+', '+=+', 'a=b+ä+%2B+%C3%A4', '+a+=++b', 'a=++&a=+1', 'ключ+1=а+б']) {
    const read = new URLSearchParams(text)
    assert.deepEqual(Object.entries(fieldsOf(text))[0]?.flat(), [...read.keys().take(1), ...read.values()])
  }
  const fields = fieldsOf('__proto__=x&__proto__[y]=1&constructor=z')
  const found = [Object.getPrototypeOf(fields), fields['constructor'], fields['toString']]
  assert.deepEqual(found, [null, 'z', undefined])
  assert.ok(!Object.hasOwn(fields, '__proto__'))
})

/** Content type, body, the fields that it gives. */
const charsets: readonly (readonly [type: string, body: string | Buffer, fields: object])[] = [
  [`${form}; charset=ISO-8859-1`, 'name=Jos%E9+A&city=K%F6ln%20%zz', { name: 'José A', city: 'Köln %zz' }],
  [`${form}; charset="windows-1252"`, 'price=5%80', { price: '5€' }],
  [`${form}; charset=iso-8859-1`, Buffer.from('name=José', 'latin1'), { name: 'José' }],
  [`${form};charset=Shift_JIS`, 'name=%83A%83%8B&x=a%26b', { name: 'アル', x: 'a&b' }],
  [`${form}; charset=utf-8`, 'name=Jos%C3%A9&rate=100%', { name: 'José', rate: '100%' }],
  ['application/json; charset=iso-8859-1', Buffer.from('{"name":"José"}', 'latin1'), { name: 'José' }],
  // Many declare this out of habit; JSON is UTF-8.
  ['application/json; charset=iso-8859-1', '{"name":"José"}', { name: 'José' }],
  ['application/json; charset=utf-16', Buffer.from('\ufeff{"name":"José"}', 'utf16le'), { name: 'José' }],
]

for (const [type, body, fields] of charsets)
  test(`${body.toString('latin1')} as ${type} gives ${JSON.stringify(fields)}`, () => {
    const { payload } = decodePayload(Buffer.from(body), type)
    assert.deepEqual({ ...(payload as object) }, fields)
  })

test('bytes that are invalid in their charset are refused, and never replaced', () => {
  for (const [body, type] of [
    ['name=Jos%E9', form],
    ['Jos%E9=1', `${form}; charset=utf-8`],
    ['name=%ED%A0%80', form],
    ['name=%83', `${form}; charset=shift_jis`],
    ['name=%E9', `${form}; charset=klingon`],
    [Buffer.from('name=José', 'latin1'), form],
    [Buffer.from('{"name":"José"}', 'latin1'), 'application/json'],
  ] as const)
    assert.throws(() => decodePayload(Buffer.from(body), type), refusal('INVALID_TEXT'), `${body} ${type}`)
})

test('a multipart form has a sentence of its own, unless it holds JSON', () => {
  const multipart = 'multipart/form-data; boundary=x'
  const body = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
  assert.throws(() => decodePayload(Buffer.from(body), multipart), refusal('MULTIPART_BODY'))
  assert.deepEqual(decodePayload(Buffer.from('{"a":1}'), multipart).payload, { a: 1 })
})

test('an object may have tens of thousands of keys, and a byte order mark is dropped', () => {
  const keys = Array.from({ length: 30_000 }, (_, index) => `"k${index}":0`)
  const { payload } = decodeJson(Buffer.from(`\ufeff{"a":{${keys.join()}}}`))
  assert.equal(Object.keys((payload as { a: object }).a).length, 30_000)
})

test('invalid UTF-8 is refused, and an escaped half of a surrogate pair is not', () => {
  assert.throws(() => decodeJson(Buffer.from([0x22, 0xff, 0x22])), refusal('INVALID_TEXT'))
  assert.throws(() => decodeJson(Buffer.from('"a"', 'utf16le')), refusal('INVALID_JSON'))
  assert.deepEqual(decodeJson(Buffer.from('"\\ud800"')), { payload: '\ud800' })
})

test('broken JSON is refused with a message that says where, and does not quote it', () => {
  for (const [text, where] of [
    ['{"canary":', ': it ends too early'],
    ['canary', ''],
    ['', ': it ends too early'],
    ["{'canary':1}", ': it is wrong at line 1, column 2'],
    ['canary=1', ': it is a form, whose content type has to be application/x-www-form-urlencoded'],
    ['<canary>', ': it begins as XML or HTML does; choose JSON at the sender'],
  ] as const) {
    assert.throws(
      () => decodeJson(Buffer.from(text)),
      (error: Error) => error.message === `The body is not valid JSON${where}.` && error.cause === undefined,
      text,
    )
  }
})

test('a __proto__ key is a key like any other', () => {
  const payload = decodeJson(Buffer.from('{"__proto__":{"polluted":1}}')).payload as object
  assert.equal(Object.getPrototypeOf(payload), Object.prototype)
  assert.ok(!('polluted' in payload) && !('polluted' in {}))
})

test('a megabyte of brackets is refused before it is parsed, in a form too', () => {
  const bomb = '['.repeat(500_000) + ']'.repeat(500_000)
  assert.throws(() => decodeJson(Buffer.from(bomb)), refusal('NESTED_TOO_DEEP'))
  assert.throws(() => decodePayload(Buffer.from(bomb), form), refusal('NESTED_TOO_DEEP'))
  assert.throws(() => decodePayload(Buffer.from(`payload=${bomb}`), form), refusal('NESTED_TOO_DEEP'))
})

const long = ' '.repeat(65_536)

test('nesting is bounded in long bodies and not in small ones, of lists and of objects alike', () => {
  assert.ok(Array.isArray(decodeJson(Buffer.from('['.repeat(30_000) + ']'.repeat(30_000))).payload))
  for (const [open = '', close = ''] of ['[ ]', '{"a": }'].map((pair) => pair.split(' '))) {
    const nested = (depth: number) => Buffer.from(`${open.repeat(depth)}1${close.repeat(depth)}${long}`)
    assert.doesNotThrow(() => decodeJson(nested(1000)))
    assert.throws(() => decodeJson(nested(1001)), refusal('NESTED_TOO_DEEP'))
    assert.equal(isLongToRead(nested(100)), false)
    assert.equal(isLongToRead(nested(101)), true)
  }
})

test('brackets side by side, or inside a text, do not count as nesting', () => {
  assert.doesNotThrow(() => decodeJson(Buffer.from(`[${'[],{},'.repeat(1000)}0]${long}`)))
  assert.doesNotThrow(() => decodeJson(Buffer.from(`"\\"${'['.repeat(2000)}\\\\"${long}`)))
  assert.throws(() => decodeJson(Buffer.from(`"\\\\"${'['.repeat(2000)}${long}`)), refusal('NESTED_TOO_DEEP'))
})

test('a body of more than 256 KB is too long to be read on the main loop', () => {
  assert.equal(isLongToRead(Buffer.alloc(262_144, ' ')), false)
  assert.equal(isLongToRead(Buffer.alloc(262_145, ' ')), true)
})
