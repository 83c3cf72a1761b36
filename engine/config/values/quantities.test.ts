import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  byteSizePattern,
  durationPattern,
  inLargestUnit,
  parseByteSize,
  parseDuration,
} from './quantities.ts'

const ofDurations = { '250ms': 250, '10s': 10_000, '30m': 1_800_000, '24h': 86_400_000, '7d': 604_800_000 }
const ofSizes = { '0B': 0, '512KiB': 524_288, '20MiB': 20_971_520, '9999999TiB': Number.MAX_SAFE_INTEGER }

for (const [what, parse, pattern, known, others] of [
  [
    'duration',
    parseDuration,
    durationPattern,
    ofDurations,
    ' 10 s 0s -1s 1.5h 1h30m _1h 1_h 1w 1H 9999999999d',
  ],
  ['size', parseByteSize, byteSizePattern, ofSizes, ' 1 1.5GiB -1MiB 1GB 01MiB _1MiB 1_MiB MiB 10000000B'],
] as const)
  test(`a ${what} is a whole number and its unit; parser and pattern refuse any other text`, () => {
    for (const [text, amount] of Object.entries(known)) {
      assert.equal(parse(text), amount)
      assert.match(text, new RegExp(pattern))
    }
    for (const text of others.split(' ').map((each) => each.replace('_', ' '))) {
      assert.throws(() => parse(text), RangeError, text)
      assert.doesNotMatch(text, new RegExp(pattern))
    }
  })

test('a limit is shown in the largest unit that gives at least two, and is never rounded up', () => {
  const limits = { 2147483647: '24d', 86400000: '24h', 60000: '60s', 90500: '90s', 1: '1ms' }
  for (const [ms, text] of Object.entries(limits)) assert.equal(inLargestUnit(Number(ms)), text)
})
