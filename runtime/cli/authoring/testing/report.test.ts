import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPaint } from '../../../observe/paint.ts'
import { formatDifference } from './report.ts'

const plain = createPaint({ colour: false })

function between(wanted: string, actual: string): string[] {
  const [expected, found] = [JSON.stringify(wanted), JSON.stringify(actual)]
  return formatDifference({ expected, actual: found, texts: { wanted, actual } }, plain)
}

test('a long line is cut around the first difference, which stays marked', () => {
  const same = 'x'.repeat(300)
  const [expected = '', actual = '', mark = ''] = between(`${same}a${same}`, `${same}b${same}`)
  const at = mark.indexOf('^')
  assert.deepEqual([expected[at], actual[at]], ['a', 'b'])
  assert.ok(expected.length < 120)
})

test('the mark is right below wide characters', () => {
  const [, actual = '', mark = ''] = between('灯a', '灯b')
  assert.equal(mark.indexOf('^'), actual.indexOf('b') + 1)
})

test('equal lines far from a difference are left out', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
  const output = between(lines.join('\n'), lines.with(10, 'other').join('\n'))
  assert.deepEqual(output, [
    '- expected  + actual',
    '  …',
    '  line 8',
    '  line 9',
    '- line 10',
    '+ other',
    '  line 11',
    '  line 12',
    '  …',
  ])
})

test('of texts that have nothing in common only the first lines are shown', () => {
  const text = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join('\n')
  const output = between(text('one'), text('other'))
  assert.equal(output[1], '- one 0')
  assert.equal(output.at(-1), '… 9940 more lines')
})

test('the first lines are shown of a text that should have contained another', () => {
  const actual = Array.from({ length: 22 }, (_, index) => String(index)).join('\n')
  const output = formatDifference(
    { expected: 'text that contains "x"', actual: '', texts: { actual } },
    plain,
  )
  assert.deepEqual(output.slice(0, 3), ['expected  text that contains "x"', 'actual', '│ 0'])
  assert.deepEqual(output.slice(-2), ['│ 19', '│ … 2 more lines'])
})

test('a part of several lines is shown as lines', () => {
  const part = 'a\nb'
  const expected = `text that contains ${JSON.stringify(part)}`
  assert.deepEqual(formatDifference({ expected, actual: '"c"', texts: { actual: 'c', part } }, plain), [
    'expected  text that contains',
    '│ a',
    '│ b',
    'actual',
    '│ c',
  ])
})
