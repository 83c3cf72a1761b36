/** Owns a new entry in a configuration that a person wrote: everything else in the file stays as it is, byte for byte. */

import { isDeepStrictEqual } from 'node:util'
import {
  Document,
  isAlias,
  isMap,
  isScalar,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml'

/** The file is not what an entry can be added to: it is broken, or has that entry. */
export class NotAddable extends Error {
  override readonly name = 'NotAddable'
}

type Entry = Readonly<Record<string, unknown>>

/**
 * The text with `section.name: entry` in it. A section in braces on one line becomes lines; one that is not there comes at the
 * end. What stands in braces as a whole stays so, and JSON stays JSON. @throws NotAddable with a sentence
 */
export function addToConfiguration(text: string, section: string, name: string, entry: Entry): string {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) throw new NotAddable(brokenText(error))
  const before: unknown = document.toJS() ?? {}
  if (!isRecord(before)) throw new NotAddable('It does not hold keys.')
  const entries = before[section] ?? {}
  if (!isRecord(entries)) throw new NotAddable(`Its \`${section}\` does not hold names.`)
  if (Object.hasOwn(entries, name)) throw new NotAddable(`It has ${section}.${name} already.`)
  if (isAlias(document.get(section, true)))
    throw new NotAddable(`Its \`${section}\` is an alias: write it out.`)

  const after = { ...before, [section]: { ...entries, [name]: entry } }
  const added = withLineEndsOf(text, insert(text, document, section, { [name]: entry }))
  if (says(added, after)) return added
  // A layout that was not foreseen, such as an anchor or a tag on the section: right, if not as it was.
  if (isJson(text)) return `${JSON.stringify(after, null, 2)}\n`
  document.setIn([section, name], entry)
  return String(document)
}

function brokenText({ message, linePos }: YAMLParseError): string {
  const what = (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:$/, '')
  const place = linePos === undefined ? 'It' : `Line ${linePos[0].line}, column ${linePos[0].col}`
  return `${place} is no YAML: ${what.replace(/\.$/, '')}.`
}

/** As its first line ends. */
function withLineEndsOf(text: string, added: string): string {
  return /^[^\n]*\r\n/.test(text) ? added.replaceAll(/\r?\n/g, '\r\n') : added
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function says(text: string, value: unknown): boolean {
  const document = parseDocument(text)
  return document.errors.length === 0 && isDeepStrictEqual(document.toJS(), value)
}

/** Two spaces, where the file does not show another taste. */
const usualIndent = 2

function insert(text: string, document: Document, section: string, entry: Entry): string {
  const root = document.contents
  const pair = isMap(root) ? root.items.find(({ key }) => isScalar(key) && key.value === section) : undefined
  const isInBraces = isMap(root) && root.flow === true
  if (pair === undefined && isInBraces) return insertInBraces(text, root, { [section]: entry })
  if (pair === undefined) return `${text}${gapAfter(text)}${linesOf({ [section]: entry }, 0)}`
  const { value } = pair as Pair<unknown, unknown>
  if (isMap(value) && value.flow !== true) return insertBelow(text, value, entry)
  if (isMap(value) && (isInBraces || isOfSeveralLines(text, value))) return insertInBraces(text, value, entry)
  return unfold(text, pair as Pair<unknown, YAMLMap | null>, entry)
}

/** One blank line before a new section, whatever the file ends with. */
function gapAfter(text: string): string {
  if (text.trim() === '') return ''
  return text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
}

/** After the last entry of the section, comments at its lines' ends included. */
function insertBelow(text: string, map: YAMLMap, entry: Entry): string {
  const first = (map.items[0]?.key as { range?: [number, number, number] } | undefined)?.range?.[0] ?? 0
  const indent = first - (text.lastIndexOf('\n', first - 1) + 1)
  const last = map.items.at(-1)
  const end = lineEnd(text, endOf(last) ?? first)
  return `${text.slice(0, end)}${text[end - 1] === '\n' ? '' : '\n'}${linesOf(entry, indent)}${text.slice(end)}`
}

function isOfSeveralLines(text: string, { range }: YAMLMap): boolean {
  return text.slice(range?.[0], range?.[1]).includes('\n')
}

/** On a line of its own where the closing brace has one, else before that brace; a comma is added where there is none. */
function insertInBraces(text: string, map: YAMLMap, entry: Entry): string {
  const [start = 0, end = 0] = map.range ?? []
  const closing = end - 1
  const last = map.items.at(-1)
  const lastEnd = endOf(last) ?? start + 1
  const needsComma = last !== undefined && !withoutComments(text.slice(lastEnd, closing)).includes(',')
  const comma = needsComma ? ',' : ''
  const lineStart = text.lastIndexOf('\n', closing) + 1
  if (last !== undefined && lineStart > start && text.slice(lineStart, closing).trim() === '') {
    const indent = indentOf(text, map)
    const line = `${indent}${inBraces(text, entry, indent)}\n`
    return `${text.slice(0, lastEnd)}${comma}${text.slice(lastEnd, lineStart)}${line}${text.slice(lineStart)}`
  }
  const inner = text.slice(lastEnd, closing)
  const edge = inner === '' && last === undefined && !isJson(text) ? ' ' : inner.slice(inner.trimEnd().length)
  const before = last === undefined ? edge : ' '
  const added = `${comma}${inner.trimEnd()}${before}${inBraces(text, entry)}${edge}`
  return `${text.slice(0, lastEnd)}${added}${text.slice(closing)}`
}

function withoutComments(text: string): string {
  return text.replaceAll(/#.*/g, '')
}

function indentOf(text: string, map: YAMLMap): string {
  const first = (map.items[0]?.key as { range?: number[] } | undefined)?.range?.[0] ?? 0
  const line = text.slice(text.lastIndexOf('\n', first - 1) + 1, first)
  return line.trim() === '' ? line : ' '.repeat(usualIndent)
}

/** One pair, as it stands between braces; JSON in lines where an `indent` says that there are some. */
function inBraces(text: string, entry: Entry, indent?: string): string {
  if (isJson(text)) {
    const [[key, value] = ['', {}]] = Object.entries(entry)
    const json = indent === undefined ? JSON.stringify(value) : JSON.stringify(value, null, usualIndent)
    return `${JSON.stringify(key)}:${indent === undefined ? '' : ' '}${json.replaceAll('\n', `\n${indent}`)}`
  }
  return linesOf(entry, 0, true).trim().replace(/^\{ ?/, '').replace(/ ?\}$/, '')
}

/** `channels: { terminal: {} } # comment` becomes lines; what its entries hold stays in braces. */
function unfold(text: string, pair: Pair<unknown, YAMLMap | null>, entry: Entry): string {
  const { key, value } = pair as unknown as { key: { range: number[] }; value: { range?: number[] } | null }
  const keyEnd = text.indexOf(':', key.range[1] ?? 0) + 1
  const [start = keyEnd, end = keyEnd] = value?.range ?? []
  const rest = text.slice(end, lineEnd(text, end)).trimEnd()
  const kept = isMap(value)
    ? value.items.map((item) => {
        const from = (item.key as { range: number[] }).range[0] ?? 0
        return `${' '.repeat(usualIndent)}${text.slice(from, endOf(item)).replaceAll('\n', ' ').trimEnd()}\n`
      })
    : []
  const head = text.slice(0, Math.min(start, keyEnd)).trimEnd()
  const comment = rest === '' ? '' : ` ${rest.trimStart()}`
  return `${head}${comment}\n${kept.join('')}${linesOf(entry, usualIndent)}${text.slice(lineEnd(text, end))}`
}

function endOf(item: Pair<unknown, unknown> | undefined): number | undefined {
  const value = item?.value as { range?: [number, number, number] } | null | undefined
  const key = item?.key as { range?: [number, number, number] } | undefined
  return value?.range?.[1] ?? (key?.range === undefined ? undefined : key.range[1] + 1)
}

/** The offset after the line feed of the line that holds the offset; a value that ended with its line is on that one. */
function lineEnd(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset
  const at = text.indexOf('\n', offset)
  return at === -1 ? text.length : at + 1
}

function linesOf(value: Entry, indent: number, flow = false): string {
  const document = new Document(value, { flow })
  visit(document, {
    // As people write references: in quotes.
    Scalar(_key, node) {
      if (typeof node.value === 'string' && node.value.includes('$')) node.type = 'QUOTE_DOUBLE'
    },
  })
  const text = document.toString({ lineWidth: 0 })
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(indent))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
