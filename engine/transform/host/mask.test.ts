import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMask } from './mask.ts'

const secret = 'a "quoted"\\ß key/+1'

/** Spellings of a secret, each with its surroundings. */
const encodings: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  'upper case': (text) => text.toUpperCase().replace('SS', 'ß'),
  percent: encodeURIComponent,
  'percent, lower case': (text) => encodeURIComponent(text).toLowerCase(),
  form: (text) => new URLSearchParams({ a: text }).toString(),
  'all percent': (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'upper hex': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'base64, first place': (text) => Buffer.from(`abc${text}abc`).toString('base64'),
  'base64, second place': (text) => Buffer.from(`a${text}abc`).toString('base64'),
  'base64, third place': (text) => Buffer.from(`ab${text}abc`).toString('base64'),
  base64url: (text) => Buffer.from(`ab${text}abc`).toString('base64url'),
  JSON: (text) => JSON.stringify({ a: text }),
  'JSON in JSON': (text) => JSON.stringify({ a: JSON.stringify({ b: text }) }),
  'JSON Pointer': (text) => `/${text.replaceAll('/', '~1')}/0`,
  'escapes of JSON': (text) =>
    [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
}

for (const [name, write] of Object.entries(encodings))
  test(`a secret is hidden in a text and in JSON where it is written as ${name}`, () => {
    const mask = createMask()
    mask.add([secret])
    const text = `before ${write(secret)} after`
    const masked = mask.text(text)
    assert.match(masked, /^before .*\[redacted\].* after$/)
    assert.ok(!masked.includes(write(secret).slice(9, 17)), masked)
    const json = mask.json(JSON.stringify({ [text]: [text, 1] }))
    assert.equal(json, JSON.stringify({ [masked]: [masked, 1] }))
  })

test('overlapping secrets, parts of secrets and secrets that a text was cut in are hidden whole', () => {
  const mask = createMask()
  mask.add(['abcdefgh', 'abcdefghijkl', 'ijklmnopqrst', 'first-line\nsecond-line'])
  const cases: readonly (readonly [string, string])[] = [
    ['x abcdefghijkl abcdefgh y', 'x [redacted] [redacted] y'],
    ['x abcdefghijklmnopqrst y', 'x [redacted] y'],
    ['x ijklmnop…', 'x [redacted]…'],
    ['x ijklmnopq', 'x [redacted]'],
    ['x ijklmnop y', 'x ijklmnop y'],
    ['x ijklmno…', 'x ijklmno…'],
    ['x second-line y', 'x [redacted] y'],
    ['', ''],
  ]
  for (const [text, masked] of cases) assert.equal(mask.text(text), masked)
})

test('masked JSON is JSON, and numbers, times and escapes are as they were', () => {
  const mask = createMask()
  // Secrets of fewer than eight characters hide nothing.
  mask.add(['1123456', '12345678', 'nabcdefgh', '"quoted"-secret', 'ends-with-\\'])
  const numbers =
    '{"at":1123456789,"pin":12345678,"list":[12345678],"text":"pin 12345678","12345678":"nabcdefgh"}'
  const kept =
    '{"at":1123456789,"pin":"[redacted]","list":["[redacted]"],"text":"pin [redacted]","[redacted]":"[redacted]"}'
  assert.equal(mask.json(numbers), kept)
  const texts = ['x\nabcdefgh', 'a "quoted"-secret', 'ends-with-\\']
  assert.deepEqual(JSON.parse(mask.json(JSON.stringify(texts))), [
    'x\nabcdefgh',
    'a [redacted]',
    '[redacted]',
  ])
})
