/** Generates texts for tests: any characters, and often combining ones and halves of surrogate pairs. */

import fc from 'fast-check'

const character = fc.oneof(
  // The `binary` of fast-check lists all of Unicode first, which takes half a second.
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u0301', '\u200d', '👩', '🇩', '\ud83d', '\ude00', '\r\n', '"', '\u001f'),
  },
)

export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(character, { maxLength }).map((characters) => characters.join(''))
}
