import assert from 'node:assert/strict'
import test from 'node:test'
import { type Comparison, type Measured, measureAll, quantile, ratios } from './measure.ts'

test('variants take turns, each round begins with the next one, and all are closed', async () => {
  const taken: string[] = []
  const shown: string[] = []
  const comparison = comparisonOf((step) => taken.push(step))
  const [measure] = await measureAll([comparison], 3, (number, _, variant) => {
    shown.push(`${number} ${variant}`)
  })
  assert.deepEqual(taken, ['one', 'two', 'two', 'one', 'one', 'two', 'one closed', 'two closed'])
  assert.equal(shown.at(-1), '6/6 two')
  assert.deepEqual(
    measure?.variants.map(({ samples }) => samples.length),
    [3, 3],
  )
})

test('opened variants are closed after an error', async () => {
  const taken: string[] = []
  const failing = comparisonOf((step) => {
    taken.push(step)
    if (step === 'two') throw new Error('refused')
  })
  await assert.rejects(
    measureAll([failing], 3, () => {}),
    /refused/,
  )
  assert.deepEqual(taken, ['one', 'two', 'one closed', 'two closed'])
})

test('ratios compare samples of one turn, and a quantile between two values is between them', () => {
  const of = (...values: number[]): Measured => ({ name: 'x', samples: values.map((value) => ({ value })) })
  assert.deepEqual(ratios(of(1, 6, 30), of(2, 3, 10), 'value'), [0.5, 2, 3])
  assert.deepEqual([quantile([3, 1, 2], 0.5), quantile([4, 1, 2, 3], 0.5), quantile([5], 0.99)], [2, 2.5, 5])
})

function comparisonOf(note: (step: string) => void): Comparison {
  const variants = ['one', 'two'].map((name) => ({
    name,
    open: async () => ({
      async take() {
        note(name)
        return { value: 1 }
      },
      close: async () => note(`${name} closed`),
    }),
  }))
  return { name: 'x', compared: 'value', variants }
}
