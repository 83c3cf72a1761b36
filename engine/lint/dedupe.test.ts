import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mapping } from '../compile/fixture.ts'
import { codesOf, lintOf, mappingOf } from './fixture.ts'

const key = 'headers.`x-delivery`'
const cases: readonly (readonly [string, Mapping, readonly string[]])[] = [
  ['one key for all elements', { forEach: 'events', dedupe: { enabled: true, key } }, ['SHARED_DEDUPE_KEY']],
  [
    'the same in a template',
    { forEach: 'events', dedupe: { enabled: true, key: '{{id}}' } },
    ['SHARED_DEDUPE_KEY'],
  ],
  ['a key of the element', { forEach: 'events', dedupe: { enabled: true, key: 'item.id' } }, []],
  ['a key of its place', { forEach: 'events', dedupe: { enabled: true, key: '{{id}}-{{index}}' } }, []],
  [
    'a key of a value that may be of the element',
    { forEach: 'events', vars: { id: 'item.id' }, dedupe: { enabled: true, key: 'vars.id' } },
    [],
  ],
  ['one key, turned off', { forEach: 'events', dedupe: { enabled: false, key } }, []],
  ['no key of its own', { forEach: 'events', dedupe: { enabled: true, windowMs: 1 } }, []],
  ['one action', { dedupe: { enabled: true, key } }, []],
]

for (const [name, mapping, codes] of cases) {
  test(`${name}: ${codes.join(', ') || 'nothing to say'}`, async () => {
    const found = codesOf(await lintOf([mappingOf('one', mapping)]))
    assert.deepEqual(
      found.filter((code) => code !== 'UNUSED_ELEMENT'),
      codes,
    )
  })
}
