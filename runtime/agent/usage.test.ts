import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUsage, readUsage, tokensOf } from './usage.ts'

test('only whole counts are used', () => {
  const strange = { inputTokens: 1.5, outputTokens: -1, cachedInputTokens: Number.NaN, reasoningTokens: 3 }
  assert.deepEqual(readUsage(strange), { reasoningTokens: 3 })
  assert.deepEqual(readUsage({ inputTokens: '5' } as never), {})
  assert.equal(readUsage('five' as never), undefined)
})

test('attempts add up count by count, and those that report nothing add nothing', () => {
  assert.deepEqual(addUsage({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, cachedInputTokens: 1 }), {
    inputTokens: 4,
    outputTokens: 2,
    cachedInputTokens: 1,
  })
  assert.deepEqual(addUsage(undefined, { inputTokens: 3 }), { inputTokens: 3 })
  assert.equal(addUsage(undefined, undefined), undefined)
})

test('cached tokens are input and reasoning tokens are output: neither counts twice', () => {
  const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 8, reasoningTokens: 4 }
  assert.equal(tokensOf(usage), 15)
  assert.equal(tokensOf(undefined), 0)
})

test('excessive counts add up to a number that can be stored', () => {
  const most = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER }
  assert.deepEqual(addUsage(most, most), most)
  assert.equal(tokensOf(most), Number.MAX_SAFE_INTEGER)
})
