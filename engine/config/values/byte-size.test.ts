import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byteSizePattern, parseByteSize } from './byte-size.ts'

test('a size is a whole number and its unit', () => {
  const known = {
    '0B': 0,
    '512KiB': 524_288,
    '20MiB': 20_971_520,
    '1GiB': 1_073_741_824,
    '9999999TiB': Number.MAX_SAFE_INTEGER,
  }
  for (const [text, bytes] of Object.entries(known)) {
    assert.equal(parseByteSize(text), bytes)
    assert.match(text, new RegExp(byteSizePattern))
  }
})

test('any other text is refused, by the parser and by the pattern alike', () => {
  for (const text of ['', '1', '1.5GiB', '-1MiB', '1GB', '01MiB', ' 1MiB', '1 MiB', 'MiB', '10000000B']) {
    assert.throws(() => parseByteSize(text), RangeError, text)
    assert.doesNotMatch(text, new RegExp(byteSizePattern))
  }
})
