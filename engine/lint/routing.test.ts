import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mapping } from '../compile/fixture.ts'
import { codesOf, lintOf, mappingOf } from './fixture.ts'

const each = (key: string, more: Mapping = {}): Mapping => ({
  forEach: 'events',
  dedupe: { enabled: true, key },
  ...more,
})
const limits = { windowMs: 1, maxWaitMs: 1, keep: 'latest', maxRunsPerHour: 1 } as const
const both = (key: string, coalesce: string): Mapping => ({
  dedupe: { enabled: true, key },
  coalesce: { ...limits, key: coalesce },
})
const header = 'headers.`x-delivery`'

const cases: readonly (readonly [string, Mapping, ...string[]])[] = [
  ['one session for all senders', { sessionKey: 'hook:inbox' }, 'SHARED_SESSION'],
  ['a session for each conversation', { sessionKey: 'hook:inbox:{{number}}' }],
  ['a wake', { action: 'wake', text: 'Look', sessionKey: 'hook:inbox' }],
  ['one key for all elements', each(header), 'SHARED_DEDUPE_KEY'],
  ['the same in a template', each('{{id}}'), 'SHARED_DEDUPE_KEY'],
  ['a key of the element', each('item.id')],
  ['a key of its place', each('{{id}}-{{index}}')],
  ['a key of a value that may be of the element', each('vars.id', { vars: { id: 'item.id' } })],
  ['one key, turned off', each('', { dedupe: { enabled: false, key: header } })],
  ['no key of its own', each('', { dedupe: { enabled: true, windowMs: 1 } })],
  ['one action', { dedupe: { enabled: true, key: header } }],
  ['a key that is also that of coalesce', both('number', '{{ number }}'), 'DEAD_COALESCE'],
  ['another key than that of coalesce', both('id', 'number')],
]

for (const [name, mapping, ...codes] of cases)
  test(`${name}: ${codes.join(', ') || 'nothing to say'}`, async () => {
    const found = codesOf(await lintOf([mappingOf('one', mapping)]))
    const listed = found.filter((code) => code !== 'UNUSED_ELEMENT')
    assert.deepEqual(listed, codes)
  })
