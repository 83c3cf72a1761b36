import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generationNumber } from './requests.ts'

test('a generation is named by its number, or by the beginning of its digest, which may be digits alone', () => {
  const kept = [
    { generation: 12345678, digest: 'ab00' },
    { generation: 2, digest: '82395704ab' },
  ]
  const options = { archive: { list: () => kept } } as unknown as Parameters<typeof generationNumber>[1]
  for (const [named, number] of [
    ['2', 2],
    ['82395704', 2],
    ['82395704ab', 2],
    ['12345678', 12345678],
    ['0123abcd', undefined],
  ] as const)
    assert.equal(generationNumber(named, options), number, named)
})
