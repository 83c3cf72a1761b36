import assert from 'node:assert/strict'
import test from 'node:test'
import { type Comparison, measureAll, quantile, ratios, sampleCount, type Variant } from './measure.ts'

test('variants take turns, each round begins with the next one, and all are closed', async () => {
  const taken: string[] = []
  const comparison = comparisonOf((variant) => taken.push(variant))
  const shown: string[] = []
  const [measure] = await measureAll([comparison], 3, ({ number, total, variant }) => {
    shown.push(`${number}/${total} ${variant}`)
  })
  assert.deepEqual(taken, ['one', 'two', 'two', 'one', 'one', 'two', 'closed'])
  assert.equal(shown.at(-1), '6/6 two')
  assert.equal(sampleCount([comparison], 3), 6)
  assert.deepEqual(
    measure?.variants.map(({ samples }) => samples.length),
    [3, 3],
  )
})

test('opened variants are closed after an error', async () => {
  const taken: string[] = []
  const failing = comparisonOf((variant) => {
    taken.push(variant)
    if (variant === 'two') throw new Error('refused')
  })
  await assert.rejects(
    measureAll([failing], 3, () => {}),
    /refused/,
  )
  assert.deepEqual(taken, ['one', 'two', 'closed'])
})

test('ratios compare samples of one turn', () => {
  const of = (...values: number[]): Variant => ({ name: 'x', samples: values.map((value) => ({ value })) })
  assert.deepEqual(ratios(of(1, 6, 30), of(2, 3, 10), 'value'), [0.5, 2, 3])
})

test('a quantile between two values is between them', () => {
  assert.equal(quantile([3, 1, 2], 0.5), 2)
  assert.equal(quantile([4, 1, 2, 3], 0.5), 2.5)
  assert.equal(quantile([5], 0.99), 5)
})

function comparisonOf(take: (variant: string) => void): Comparison {
  return {
    name: 'x',
    variants: ['one', 'two'],
    compared: 'value',
    openSeconds: 0,
    sampleSeconds: 0,
    open: async () => ({
      async take(variant) {
        take(variant)
        return { value: 1 }
      },
      close: async () => take('closed'),
    }),
  }
}
