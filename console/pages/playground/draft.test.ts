import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { entryAt, headersText, parseHeaders, parseQuery, payloadText, queryText } from './draft.ts'

const file = `# GitHub
mappings:
  - id: one
    match: { path: github }
    message: |
      First

      line
  # about two
  - id: two
    text: x
  - { id: three, match: { path: a }, text: "}" }
tests: []
`

test('one entry is cut out of a mapping file, with its own lines only', () => {
  assert.deepEqual(parse(entryAt(file, 3, 5) ?? ''), {
    id: 'one',
    match: { path: 'github' },
    message: 'First\n\nline\n',
  })
  assert.deepEqual(parse(entryAt(file, 10, 5) ?? ''), { id: 'two', text: 'x' })
  assert.deepEqual(parse(entryAt(file, 12, 5) ?? ''), { id: 'three', match: { path: 'a' }, text: '}' })
  assert.equal(entryAt(file, 99, 1), undefined)
  const json = JSON.stringify({ mappings: [{ id: 'a', text: 'x' }, { id: 'b' }] }, null, 2)
  assert.deepEqual(parse(entryAt(json, 3, 5) ?? ''), { id: 'a', text: 'x' })
})

test('headers and query survive being written as text', () => {
  const headers = headersText({ host: 'x', 'x-github-event': 'push', accept: ['a', 'b'] })
  assert.equal(headers, 'x-github-event: push\naccept: a\naccept: b')
  assert.deepEqual(parseHeaders(headers), { 'x-github-event': 'push', accept: 'a, b' })
  assert.deepEqual(parseQuery(queryText({ a: '1', b: 'x&y' })), { a: '1', b: 'x&y' })
})

test('a payload is laid out, and a number that only text can hold stays as it is', () => {
  assert.equal(payloadText('{"id":820982911946154508}'), '{\n  "id": 820982911946154508\n}')
  assert.equal(payloadText('a=1'), 'a=1')
})
