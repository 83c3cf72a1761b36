import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costOf, listedPrices, priceOf } from './prices.ts'

const none = { prices: {}, providers: {} }

test('a model is found by provider and name, by its name alone, and with the date of a version', () => {
  const haiku = listedPrices['claude-haiku-4-5']
  for (const name of ['claude-haiku-4-5', 'claude-haiku-4-5-20251001'])
    assert.deepEqual([priceOf(none, name), priceOf(none, `anthropic/${name}`)], [haiku, haiku], name)
  assert.equal(priceOf(none, 'openai/gpt-5-2025-08-07'), listedPrices['gpt-5'])
  assert.equal(priceOf(none, undefined, 'openai/gpt-9', 'openai/gpt-5'), listedPrices['gpt-5'])
})

test('a listed price holds only for its own vendor, whatever the provider is called', () => {
  const openai = { kind: 'openai' }
  const providers = { work: openai, router: { kind: 'openai-compatible' }, anthropic: openai }
  assert.equal(priceOf({ prices: {}, providers }, 'work/gpt-5'), listedPrices['gpt-5'])
  for (const model of ' router/gpt-5 unknown/gpt-5 anthropic/claude-opus-5 google/gpt-5 toString'.split(' '))
    assert.equal(priceOf({ prices: {}, providers }, model), undefined, model)
})

test("the operator's prices come first, and cached input costs as much as other input unless a price is set", () => {
  const own = { input: 2, cachedInput: 1, output: 3 }
  const settings = { ...none, prices: { 'ollama/llama': { input: 0, output: 0 }, 'openai/gpt-5': own } }
  assert.deepEqual(priceOf(settings, 'ollama/llama'), { input: 0, cachedInput: 0, output: 0 })
  assert.deepEqual(priceOf(settings, 'openai/gpt-5'), own)
})

test('a cost is exact to a millionth of a dollar, and counts cached tokens once', () => {
  const price = { input: 2, cachedInput: 0.2, output: 10 }
  assert.equal(costOf(price, {}), 0)
  assert.equal(costOf(price, { inputTokens: 1, outputTokens: 1 }), 0.000_012)
  assert.equal(costOf(price, { inputTokens: 1000, cachedInputTokens: 400, outputTokens: 50 }), 0.001_78)
  assert.equal(costOf(price, { inputTokens: 10, cachedInputTokens: 999 }), 0.000_002)
})

test('every listed price is plausible', () => {
  assert.ok(Object.keys(listedPrices).length > 40)
  for (const [model, { input, cachedInput, output }] of Object.entries(listedPrices))
    assert.ok(0 < cachedInput && cachedInput <= input && input < output, model)
})
