import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrapWords } from './wrap-words.ts'

test('lines are broken between words, and what is to be pasted or copied stays whole', () => {
  assert.deepEqual(wrapWords('How the watch fares: `reveille status --config here.yaml`, or so', 30), [
    'How the watch fares:',
    '`reveille status --config here.yaml`,',
    'or so',
  ])
  assert.deepEqual(wrapWords('a lonely ` breaks like every other word', 20), [
    'a lonely ` breaks',
    'like every other',
    'word',
  ])
})
