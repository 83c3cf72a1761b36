import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mapping } from '../compile/fixture.ts'
import { codesOf, lintOf, mappingOf } from './fixture.ts'

const cases: readonly (readonly [string, Mapping, readonly string[]])[] = [
  ['a permission that the model uses', { allowPayloadRouting: true, model: 'openai/{{model}}' }, []],
  ['an address that the payload chooses', { allowPayloadRouting: true, to: '{{room}}' }, []],
  [
    'an address that the payload chooses for a reply that is sent',
    { allowPayloadRouting: true, deliver: true, channel: 'slack', to: '{{room}}' },
    ['PAYLOAD_CHANNEL'],
  ],
  [
    'one of several channels that the payload chooses',
    {
      allowPayloadRouting: true,
      deliver: true,
      deliverTo: [{ channel: 'slack' }, { channel: '{% room.channel %}' }],
    },
    ['PAYLOAD_CHANNEL'],
  ],
  ['a channel for a reply', { deliver: true, channel: 'slack' }, []],
  ['one session for all senders', { sessionKey: 'hook:inbox' }, ['SHARED_SESSION']],
  ['a session for each conversation', { sessionKey: 'hook:inbox:{{number}}' }, []],
  ['a wake', { action: 'wake', text: 'Look', sessionKey: 'hook:inbox' }, []],
]

for (const [name, mapping, codes] of cases) {
  test(`${name}: ${codes.join(', ') || 'nothing to say'}`, async () => {
    assert.deepEqual(codesOf(await lintOf([mappingOf('one', mapping)])), codes)
  })
}

test('a finding about one of several channels stands at that one', async () => {
  const deliverTo = [{ channel: 'slack' }, { channel: 'slack', to: '{{room}}' }]
  const mapping = mappingOf('one', { allowPayloadRouting: true, deliver: true, deliverTo })
  const [found] = await lintOf([mapping])
  assert.match(found?.place?.text ?? '', /^ *to: \{\{room\}\}$/)
})

const key = 'headers.`x-delivery`'
const limits = { windowMs: 1, maxWaitMs: 1, keep: 'latest', maxRunsPerHour: 1 } as const
const dedupeCases: readonly (readonly [string, Mapping, readonly string[]])[] = [
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
  [
    'a key that is also that of coalesce',
    { dedupe: { enabled: true, key: 'number' }, coalesce: { ...limits, key: '{{ number }}' } },
    ['DEAD_COALESCE'],
  ],
  [
    'another key than that of coalesce',
    { dedupe: { enabled: true, key: 'id' }, coalesce: { ...limits, key: 'number' } },
    [],
  ],
  ['a key of the time', { dedupe: { enabled: true, key: 'id & $now()' } }, ['DEAD_DEDUPE']],
  ['a key with a random part', { dedupe: { enabled: true, key: '$string($random())' } }, ['DEAD_DEDUPE']],
]

for (const [name, mapping, codes] of dedupeCases) {
  test(`${name}: ${codes.join(', ') || 'nothing to say'}`, async () => {
    const found = codesOf(await lintOf([mappingOf('one', mapping)]))
    assert.deepEqual(
      found.filter((code) => code !== 'UNUSED_ELEMENT'),
      codes,
    )
  })
}
