import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LengthUnit } from './channel.ts'
import { lengthIn } from './measure.ts'

test('a text is measured in its unit, and an unknown unit is named with the known ones', () => {
  const lengths = (['utf16', 'utf8', 'characters'] as const).map((unit) => lengthIn(unit)('ä😀'))
  assert.deepEqual(lengths, [3, 6, 2])
  assert.throws(() => lengthIn('bytes' as LengthUnit), {
    name: 'TypeError',
    message: '`limits.unit` is "bytes", but must be one of utf16, utf8, characters.',
  })
})
