import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffLinesOf } from './diff-lines.ts'

/** Each line with its sign; changed words are in brackets. */
function written(before: string, after: string): string[] | undefined {
  const signs = { same: ' ', added: '+', removed: '-', gap: '~' } as const
  return diffLinesOf(before, after)?.map(
    ({ kind, parts }) =>
      signs[kind] + parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(''),
  )
}

test('a changed line is shown before and after, with the changed words marked', () => {
  assert.deepEqual(written('a: 1\nb: two words\n', 'a: 1\nb: three words\n'), [
    ' a: 1',
    '-b: [two] words',
    '+b: [three] words',
  ])
})

test('lines that were added and removed are in their order, with the numbers of both sides', () => {
  const lines = diffLinesOf('one\ntwo\nthree\n', 'one\nthree\nfour\n')
  assert.deepEqual(
    lines?.map(({ kind, before, after }) => [kind, before, after]),
    [
      ['same', 1, 1],
      ['removed', 2, undefined],
      ['same', 3, 2],
      ['added', undefined, 3],
    ],
  )
})

test('lines far from a change are left out, and a gap says so', () => {
  const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')
  const lines = written(text, text.replace('line 15', 'line x'))
  assert.equal(lines?.[0], '~')
  assert.equal(lines?.length, 1 + 3 + 2 + 3)
})

test('texts that differ only in their line ends are the same', () => {
  assert.deepEqual(diffLinesOf('a\r\nb\r\n', 'a\nb\n'), [])
})

test('a file that was added is all new, and one without a last line break gets no further line', () => {
  assert.deepEqual(written('', 'a\nb'), ['+a', '+b'])
})
