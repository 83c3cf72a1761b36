import assert from 'node:assert/strict'
import test from 'node:test'
import { mayBeCut, textsMayBeUnfinished } from './unfinished.ts'

const mappings = (...messages: string[]) =>
  `mappings:\n${messages.map((message) => `  - id: ${message}\n    match: { path: ${message} }\n    message: ${message}\n`).join('')}`

test('every beginning of an edited file may be cut, and the whole file may not', () => {
  const old = mappings('one', 'two', 'three')
  for (const text of [old.replace('two', 'another'), old.replace('mappings:', '# A comment.\nmappings:')]) {
    assert.equal(mayBeCut(old, text), false, text)
    for (let end = 1; end < text.length; end++)
      assert.equal(mayBeCut(old, text.slice(0, end)), true, text.slice(0, end))
  }
})

test('a change in the last lines is whole if it ends its line and keeps their number', () => {
  const old = mappings('one', 'two')
  assert.equal(mayBeCut(old, old.replace('message: two', 'message: second')), false)
  assert.equal(mayBeCut(old, old.replace('message: two\n', 'message: second')), true)
  assert.equal(mayBeCut(old, `${old}    name: longer\n`), true)
})

test('a new file is whole if it ends its line, and one that vanished is not', () => {
  assert.deepEqual([mayBeCut(undefined, 'a: 1\n'), mayBeCut(undefined, 'a: 1')], [false, true])
  const [one, both] = [
    new Map([['/a', 'a\n']]),
    new Map([
      ['/a', 'a\n'],
      ['/b', 'b\n'],
    ]),
  ]
  assert.deepEqual([textsMayBeUnfinished(both, one), textsMayBeUnfinished(one, both)], [true, false])
})
