import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layOut } from './json-layout.ts'

test('JSON is laid out over lines, and nothing of it but white space changes', () => {
  const text =
    '{"a":[1.0,{"b":"x, y: {z} \\"q\\"","a":1e400}],"a":12345678901234567890,"e":{},"l":[ ],"t":true}'
  const expected = `{
  "a": [
    1.0,
    {
      "b": "x, y: {z} \\"q\\"",
      "a": 1e400
    }
  ],
  "a": 12345678901234567890,
  "e": {},
  "l": [],
  "t": true
}`
  assert.equal(layOut(text), expected)
  assert.equal(layOut(expected), expected)
})

test('text that is not a JSON object or list is not laid out', () => {
  for (const text of ['', 'text', '{', '{"a":}', '12', '"text"', '<a>{}</a>'])
    assert.equal(layOut(text), undefined, text)
})

test('a body of thousands of levels is laid out without being indented out of sight', () => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  assert.ok((layOut(deep) ?? '').length < 1_000_000)
})
