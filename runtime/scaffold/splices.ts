/** Finds where in a text something is added, replaced or removed, so that everything else keeps its place. */

import { isRecord } from '@reveille/engine'
import { isMap, type YAMLMap, type YAMLSeq } from 'yaml'
import {
  type AnyPair,
  commentsIn,
  type Extent,
  extentOf,
  extentOfItem,
  hasProperties,
  isInBraces,
  lineStart,
  type ParsedText,
} from './parsed-text.ts'
import { printInBraces, printJson, printLines } from './printed.ts'

/** A range of a text, and the text that replaces it. The splices of one change do not overlap. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Undefined: the layout is unknown. */
export type Splices = readonly Splice[] | undefined

type Entry = readonly [key: string, value: unknown]

/** Applies splices. New lines end as the first line does. */
export function splice(text: string, splices: readonly Splice[]): string {
  return [...splices]
    .sort((one, other) => other.start - one.start || other.end - one.end)
    .reduce(
      (spliced, { start, end, text: added }) =>
        `${spliced.slice(0, start)}${withLineEndsOf(text, added)}${spliced.slice(end)}`,
      text,
    )
}

export function withLineEndsOf(text: string, added: string): string {
  return /^[^\n]*\r\n/.test(text) ? added.replaceAll(/\r?\n/g, '\r\n') : added
}

/** Adds a section at the end of an empty file, or of the file's outermost map, after a blank line. */
export function addSection({ text, unit }: ParsedText, [key, value]: Entry): Splices {
  const gap = text.trim() === '' || /\n\r?\n$/.test(text) ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  return [{ start: text.length, end: text.length, text: `${gap}${printLines({ [key]: value }, 0, unit)}` }]
}

/** Adds the last entry of a map. `pair`: the pair that has the map as its value, unless it is in braces. */
export function addEntry(
  written: ParsedText,
  map: YAMLMap,
  pair: AnyPair | undefined,
  entry: Entry,
): Splices {
  if (!isInBraces(map)) return addBelow(written, map, entry)
  const isFoldable = isRecord(entry[1]) && !hasProperties(map) && !isOfSeveralLines(written.text, map)
  return pair !== undefined && isFoldable && isOnOwnLine(written.text, pair)
    ? unfold(written, pair, map, entry)
    : addBetween(written, map, entry)
}

export function addItem(written: ParsedText, list: YAMLSeq, item: unknown): Splices {
  if (isInBraces(list)) return addBetween(written, list, [undefined, item])
  const { text } = written
  const start = extentOf(text, list)?.start ?? 0
  return [
    after(
      text,
      extentOfItem(text, list.items.at(-1)),
      `${indentBefore(text, start)}- ${printInBraces(item)}\n`,
    ),
  ]
}

/** Adds an entry after the last one and the comments at the ends of its lines. */
function addBelow({ text, unit }: ParsedText, map: YAMLMap, [key, value]: Entry): Splices {
  const start = extentOfItem(text, map.items[0])?.start ?? 0
  const indent = start - lineStart(text, start)
  return [after(text, extentOfItem(text, map.items.at(-1)), printLines({ [key]: value }, indent, unit))]
}

function after(text: string, extent: Extent | undefined, lines: string): Splice {
  const at = lineEnd(text, extent?.end ?? 0)
  return { start: at, end: at, text: text[at - 1] === '\n' ? lines : `\n${lines}` }
}

/** Adds an entry on a line of its own where the closing brace has one, else before that brace, with a comma where none is. */
function addBetween(
  { text, isJson, unit }: ParsedText,
  collection: YAMLMap | YAMLSeq,
  [key, value]: readonly [string | undefined, unknown],
): Splices {
  const whole = extentOf(text, collection)
  if (whole === undefined) return undefined
  const closing = whole.end - 1
  const last = extentOfItem(text, collection.items.at(-1))
  const lastEnd = last?.end ?? whole.start + 1
  const comma = last !== undefined && commaIn(text, lastEnd, closing) === undefined ? ',' : ''
  const start = lineStart(text, closing)
  if (start > whole.start && text.slice(start, closing).trim() === '') {
    const isBelow = last !== undefined && lineStart(text, last.start) > whole.start
    const indent = isBelow
      ? indentBefore(text, last.start)
      : `${text.slice(start, closing)}${' '.repeat(unit)}`
    const line = `${indent}${print(indent)}\n`
    return [
      { start: lastEnd, end: lastEnd, text: comma },
      { start, end: start, text: line },
    ]
  }
  const inner = text.slice(lastEnd, closing)
  const isTight = isJson || !isMap(collection)
  const edge = inner === '' && last === undefined && !isTight ? ' ' : inner.slice(inner.trimEnd().length)
  const before = last === undefined ? edge : ' '
  return [
    { start: lastEnd, end: closing, text: `${comma}${inner.trimEnd()}${before}${print(undefined)}${edge}` },
  ]

  function print(indent: string | undefined): string {
    if (!isJson) return key === undefined ? printInBraces(value) : printPair(key, value)
    const json = printJson(value, indent, unit)
    return key === undefined ? json : `${JSON.stringify(key)}:${indent === undefined ? '' : ' '}${json}`
  }
}

/** Prints one pair for a map in braces. */
function printPair(key: string, value: unknown): string {
  return printInBraces({ [key]: value }).slice(2, -2)
}

/** Breaks `channels: { terminal: {} } # comment` into lines; the values of its entries stay in braces. */
function unfold(written: ParsedText, pair: AnyPair, map: YAMLMap, [key, value]: Entry): Splices {
  const { text, unit } = written
  const { indent, colon } = headOf(text, pair)
  const { end } = extentOf(text, map) ?? { end: colon }
  const inner = ' '.repeat(indent + unit)
  const kept = (map.items as AnyPair[]).map((item) => {
    const [name, content] = [extentOf(text, item.key), extentOf(text, item.value)].map(
      (extent) => extent && text.slice(extent.start, extent.end).trim(),
    )
    return hasProperties(item.value) ? undefined : `${inner}${name}:${content ? ` ${content}` : ''}\n`
  })
  if (kept.includes(undefined)) return addBetween(written, map, [key, value])
  const stop = lineEnd(text, end)
  const comment = text.slice(end, stop).trim()
  const lines = `${kept.join('')}${printLines({ [key]: value }, indent + unit, unit)}`
  return [{ start: colon, end: stop, text: `${comment && ` ${comment}`}\n${lines}` }]
}

/** `isBetween`: whether the pair is in braces. Comments inside the replaced value are moved behind it. */
export function replaceValue(
  written: ParsedText,
  pair: AnyPair,
  isBetween: boolean,
  value: unknown,
): Splices {
  const { text, unit } = written
  if (hasProperties(pair.value)) return undefined
  if (isBetween) return replaceBetween(written, pair, value)
  if (!isOnOwnLine(text, pair)) return undefined
  const { indent, colon } = headOf(text, pair)
  const end = extentOf(text, pair.value)?.end ?? colon
  const isBelow = isRecord(value) && Object.keys(value).length > 0
  const printed = isBelow ? '' : ` ${printInBraces(value)}`
  const rest = text.slice(end, lineEnd(text, end)).trimEnd()
  const inside = commentsIn(text).filter((comment) => comment.start >= colon && comment.start < end)
  if (inside.length === 0 && !isBelow && text[end - 1] !== '\n') {
    return [{ start: colon, end, text: printed }]
  }
  const beside = inside.find((comment) => !text.slice(colon, comment.start).includes('\n'))
  const aside = rest === '' && beside ? ` ${beside.text}` : rest
  const column = ' '.repeat(indent + (isBelow ? unit : 0))
  const others = inside
    .filter((comment) => rest !== '' || comment !== beside)
    .map((comment) => `${column}${comment.text}\n`)
  const below = isBelow ? printLines(value, indent + unit, unit) : ''
  const lines = `${printed}${aside}\n${others.join('')}${below}`
  return [{ start: colon, end: lineEnd(text, end), text: lines }]
}

function replaceBetween(
  { text, isJson, unit }: ParsedText,
  { key, value: old }: AnyPair,
  value: unknown,
): Splices {
  const name = extentOf(text, key)
  const extent = extentOf(text, old)
  if (name === undefined || extent === undefined || extent.start === extent.end) return undefined
  const { start, end } = extent
  const column = indentBefore(text, name.start)
  const isOnOne = !text.slice(0, start).includes('\n')
  const printed = isJson ? printJson(value, isOnOne ? undefined : column, unit) : printInBraces(value)
  return [{ start, end, text: `${printed}${commentsKept(text, start, end, column)}` }]
}

export function removePair(written: ParsedText, map: YAMLMap, pair: AnyPair): Splices {
  const { text } = written
  const extent = extentOfItem(text, pair)
  if (extent === undefined) return undefined
  if (isInBraces(map)) return removeBetween(text, map, pair, extent)
  if (!isOnOwnLine(text, pair)) return undefined
  const { colon } = headOf(text, pair)
  const start = lineStart(text, extent.start)
  const end = lineEnd(text, Math.max(extent.end, colon))
  const column = text.slice(start, extent.start)
  const comments = commentsIn(text).filter((comment) => comment.start >= start && comment.start < end)
  return [{ start, end, text: comments.map((comment) => `${column}${comment.text}\n`).join('') }]
}

function removeBetween(text: string, map: YAMLMap, pair: AnyPair, { start, end }: Extent): Splices {
  const index = map.items.indexOf(pair as (typeof map.items)[number])
  const previous = extentOfItem(text, map.items[index - 1])
  const next = extentOfItem(text, map.items[index + 1])
  const comma = commaIn(text, end, next?.start ?? (extentOf(text, map)?.end ?? end + 1) - 1)
  const kept = commentsKept(text, start, end, '')
  if (comma !== undefined) return [{ ...removedExtent(text, start, comma + 1), text: kept }]
  const before = previous && commaIn(text, previous.end, start)
  if (previous === undefined || before === undefined) return undefined
  if (text.slice(before + 1, start).trim() === '') return [{ start: before, end, text: kept }]
  return [
    { start: before, end: before + 1, text: '' },
    { ...removedExtent(text, start, end), text: kept },
  ]
}

/** The range to remove: the whole line where nothing else is on it, else the entry with the spaces behind it. */
function removedExtent(text: string, start: number, end: number): Extent {
  const from = lineStart(text, start)
  const to = lineEnd(text, end)
  const isAlone = text.slice(from, start).trim() === '' && text.slice(end, to).trim() === ''
  if (isAlone && to > end && from > 0) return { start: from, end: to }
  return { start, end: end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0) }
}

function commentsKept(text: string, start: number, end: number, column: string): string {
  return commentsIn(text)
    .filter((comment) => comment.start >= start && comment.start < end)
    .map((comment) => ` ${comment.text}\n${column}  `)
    .join('')
}

/** The first comma outside of comments, in a range that holds only commas, comments and space. */
function commaIn(text: string, start: number, end: number): number | undefined {
  const found = text
    .slice(start, end)
    .replaceAll(/#.*/g, (comment) => ' '.repeat(comment.length))
    .indexOf(',')
  return found === -1 ? undefined : start + found
}

function isOfSeveralLines(text: string, map: YAMLMap): boolean {
  const extent = extentOf(text, map)
  return extent !== undefined && text.slice(extent.start, extent.end).includes('\n')
}

/** Whether a pair is the first thing on its line. */
function isOnOwnLine(text: string, { key }: AnyPair): boolean {
  const start = extentOf(text, key)?.start
  return start !== undefined && text.slice(lineStart(text, start), start).trim() === ''
}

/** `indent`: the columns before the key. `colon`: the offset behind the colon. */
function headOf(text: string, { key }: AnyPair): { readonly indent: number; readonly colon: number } {
  const { start, end } = extentOf(text, key) ?? { start: 0, end: 0 }
  return { indent: start - lineStart(text, start), colon: text.indexOf(':', end) + 1 }
}

function indentBefore(text: string, offset: number): string {
  return /^\s*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? ''
}

/** The offset after the line feed of the line that holds the offset. A value that ended with a line belongs to that line. */
function lineEnd(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset
  const at = text.indexOf('\n', offset)
  return at === -1 ? text.length : at + 1
}
