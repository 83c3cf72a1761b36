import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrapWords } from './wrap-words.ts'

test('an excerpt is cut to the part around its caret, which is below the same character', () => {
  const line = 'message: one two three four five six seven eight nine ten eleven twelve'
  const excerpt = (word: string) => {
    const before = ' '.repeat(line.indexOf(word))
    return wrapWords(`a.yaml:12:3: error: it is wrong\n  12 | ${line}\n     | ${before}^\n  hint: fix it`, 40)
  }
  assert.deepEqual(excerpt('one'), [
    'a.yaml:12:3: error: it is wrong',
    '  12 | message: one two three four five…',
    '     |          ^',
    '  hint: fix it',
  ])
  assert.deepEqual(excerpt('seven').slice(1, 3), [
    '  12 | … four five six seven eight nine…',
    '     |                 ^',
  ])
  assert.deepEqual(excerpt('twelve').slice(1, 3), [
    '  12 | …ven eight nine ten eleven twelve',
    '     |                            ^',
  ])
})

test('lines are broken between words, and commands and addresses stay whole', () => {
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
