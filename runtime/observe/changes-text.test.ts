import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Changes } from '@reveille/engine'
import { changesText } from './changes-text.ts'

const none = { added: [], changed: [], removed: [] }
const nothing: Changes = {
  mappings: { ...none, reordered: false },
  endpoints: none,
  transforms: none,
  settings: [],
  restart: [],
}

test('changes are described in one line of names', () => {
  const cases: [Partial<Changes>, string][] = [
    [{}, ''],
    [
      {
        mappings: { added: ['a', 'b'], changed: ['pr-opened'], removed: [], reordered: false },
        settings: ['gateway.port', 'hooks.token'],
        restart: ['gateway.port'],
      },
      '+2 mappings (a, b), 1 changed (pr-opened); settings: gateway.port, hooks.token; restart needed for gateway.port',
    ],
    [{ mappings: { ...none, changed: ['a'], reordered: false } }, '1 mapping changed (a)'],
    [
      { mappings: { ...none, changed: ['a', 'b'], removed: ['c'], reordered: true } },
      '2 mappings changed (a, b), 1 removed (c), reordered',
    ],
    [{ mappings: { ...none, reordered: true } }, 'mappings reordered'],
    [
      { endpoints: { ...none, removed: ['github'] }, transforms: { ...none, changed: ['review.ts'] } },
      '1 endpoint removed (github); 1 transform changed (review.ts)',
    ],
    [{ mappings: { ...none, added: ['a', 'b', 'c', 'd'], reordered: false } }, '+4 mappings (a, b, c, d)'],
    [
      { mappings: { ...none, added: ['a', 'b', 'c', 'd', 'e'], reordered: false } },
      '+5 mappings (a, b, c, 2 more)',
    ],
  ]
  for (const [changes, expected] of cases) assert.equal(changesText({ ...nothing, ...changes }), expected)
})
