import assert from 'node:assert/strict'
import test from 'node:test'
import { durationPattern, inLargestUnit, parseDuration } from './duration.ts'

test('a duration is a whole number and its unit', () => {
  const known = { '250ms': 250, '10s': 10_000, '30m': 1_800_000, '24h': 86_400_000, '7d': 604_800_000 }
  for (const [text, ms] of Object.entries(known)) {
    assert.equal(parseDuration(text), ms)
    assert.match(text, new RegExp(durationPattern))
  }
})

test('any other text is refused, by the parser and by the pattern alike', () => {
  for (const text of ['', '10', 's', '0s', '-1s', '1.5h', '1h30m', ' 1h', '1 h', '1w', '1H', '9999999999d']) {
    assert.throws(() => parseDuration(text), RangeError, text)
    assert.doesNotMatch(text, new RegExp(durationPattern))
  }
})

test('a limit is shown in the largest unit that gives at least two, and is never rounded up', () => {
  const limits = { 2147483647: '24d', 86400000: '24h', 60000: '60s', 90500: '90s', 1: '1ms' }
  for (const [ms, text] of Object.entries(limits)) assert.equal(inLargestUnit(Number(ms)), text)
})
