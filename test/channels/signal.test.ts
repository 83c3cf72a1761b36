import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderReply } from '../../plugins/signal/render.ts'

/** Signal's style for each mark. */
const marks = [
  ['**', 'BOLD'],
  ['_', 'ITALIC'],
  ['~~', 'STRIKETHROUGH'],
  ['`', 'MONOSPACE'],
] as const
const blocks = [
  ['', ''],
  ['# ', 'BOLD'],
  ['> ', ''],
  ['- ', ''],
  ['1. ', ''],
  ['> - ', ''],
] as const

/** A unique word and its expected styles. */
interface Word {
  readonly markdown: string
  readonly styles: readonly string[]
}

function wordOf(number: number, chosen: readonly number[], filler: string): Word {
  const [code, ...others] = chosen.toSorted((left, right) => right - left)
  const inner = `${filler}${number}w`
  if (code === undefined) return { markdown: inner, styles: [] }
  const all = [code, ...others].map((index) => marks[index] ?? marks[0])
  const markdown = all.reduce((text, [sign]) => `${sign}${text}${sign}`, inner)
  return { markdown, styles: all.map(([, style]) => style).toSorted() }
}

const looks = fc.uniqueArray(fc.integer({ min: 0, max: marks.length - 1 }), { maxLength: 3 })
const filler = fc.constantFrom('', 'ä', '👩🏽‍🚀', 'שלום', '漢字漢字', 'e\u0301')
const between = fc.constantFrom(' ', ' and ', ` ${'words before the next one '.repeat(20)}`, '\n')
const block = fc.tuple(
  fc.constantFrom(...blocks),
  fc.array(fc.tuple(looks, filler), { minLength: 1, maxLength: 4 }),
  between,
)

test('each word has exactly its styles, in whichever message it arrives', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 30 }), (given) => {
      const expected = new Map<number, readonly string[]>()
      const paragraphs = given.map(([[prefix, style], words, gap]) => {
        const written = words.map(([chosen, before]) => {
          const number = expected.size
          const { markdown, styles } = wordOf(number, chosen, before)
          expected.set(number, [...new Set([...styles, ...(style === '' ? [] : [style])])].toSorted())
          return markdown
        })
        return prefix + written.join(prefix === '' ? gap : gap.replace('\n', ' '))
      })
      const found = new Map<number, readonly string[]>()
      for (const { text, styles } of renderReply(paragraphs.join('\n\n'))) {
        assert.ok(Buffer.byteLength(text) <= 2000)
        const ranges = styles.map((range) => {
          const [start, length, style = ''] = range.split(':')
          return { start: Number(start), end: Number(start) + Number(length), style }
        })
        assert.ok(ranges.every(({ start, end }) => start < end && end <= text.length))
        for (const { 0: whole, 1: number, index } of text.matchAll(/(\d+)w/g)) {
          const around = ranges.filter(({ start, end }) => start <= index && index + whole.length <= end)
          found.set(Number(number), around.map(({ style }) => style).toSorted())
        }
      }
      assert.deepEqual(found, expected)
    }),
    { seed: 20261121, numRuns: 60 },
  )
})
