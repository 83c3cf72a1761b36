/** Puts mappings and tests into a mapping file as they were written. Everything else in the file keeps every byte. */

import { isRecord, withoutJson5Comments } from '@reveille/engine'
import { isMap, isNode, isScalar, isSeq, type Node, parseDocument } from 'yaml'
import { hasValue, NotEditable, parseText, yamlOptions } from './parsed-text.ts'

type List = 'mappings' | 'tests'

export interface WrittenEntry {
  readonly value: Readonly<Record<string, unknown>>
  /** Its lines, from the left edge. */
  readonly text: string
}

/** Key by which an entry of the file is recognised. */
const keys = { mappings: 'id', tests: 'name' } as const

/**
 * Reads the entries of a mapping file, of a list, or the one that the text is.
 * @throws NotEditable with a sentence, where the text is no YAML
 */
export function entriesOf(text: string, list: List): readonly WrittenEntry[] {
  const document = parseDocument(text, yamlOptions)
  if (document.errors.length > 0 || withoutJson5Comments(text) !== text)
    throw new NotEditable('It is no YAML, or has comments that begin with `//`.')
  const root = document.contents
  const isFile = isMap(root) && (root.has('mappings') || root.has('tests'))
  const found: unknown = isFile ? root.get(list, true) : root
  const nodes = isSeq(found) ? found.items : [found]
  return nodes.filter(isNode).map((node) => {
    const value: unknown = node.toJS(document)
    if (!isRecord(value)) throw new NotEditable('An entry is no mapping.')
    return { value, text: node === root ? text.trim() : textOf(text, node) }
  })
}

function textOf(text: string, { range }: Node): string {
  const [start, end] = range ?? [0, 0]
  const margin = new RegExp(`^ {0,${columnAt(text, start)}}`, 'gm')
  return text.slice(start, end).trimEnd().replace(margin, '')
}

/** Replaces the entries of the same id or name, and adds the others at the end. @throws NotEditable with a sentence */
export function putEntries(text: string, list: List, entries: readonly WrittenEntry[]): string {
  const isCrlf = text.includes('\r\n')
  const edited = entries.reduce(
    (before, entry) => putEntry(before, list, entry),
    text.replaceAll('\r\n', '\n'),
  )
  return isCrlf ? edited.replaceAll('\n', '\r\n') : edited
}

function putEntry(text: string, list: List, entry: WrittenEntry): string {
  const { document, value } = parseText(text)
  const root = document.contents
  if (isMap(root) && root.flow) throw new NotEditable('The file is written in braces: change it by hand.')
  const before = Array.isArray(value[list]) ? (value[list] as unknown[]) : []
  const key = keys[list]
  const found = before.findIndex((each) => isRecord(each) && each[key] === entry.value[key])
  const index = found < 0 ? before.length : found
  const after = { ...value, [list]: before.toSpliced(index, 1, entry.value) }
  const written = placed(text, list, isMap(root) ? root.get(list, true) : undefined, index, entry.text)
  if (!hasValue(written, after))
    throw new NotEditable(`Its \`${list}\` cannot be changed alone: change it by hand.`)
  return written
}

function placed(text: string, list: List, node: unknown, index: number, entry: string): string {
  if (node === undefined || node === null)
    return `${text.replace(/\n?$/, text.trim() === '' ? '' : '\n')}${list}:\n  - ${indented(entry, 4)}\n`
  if (isSeq(node) && !node.flow) {
    const { items } = node
    const at = items[Math.min(index, items.length - 1)]
    const [start, valueEnd] = (isNode(at) && at.range) || [0, 0]
    const end = text[valueEnd - 1] === '\n' ? valueEnd - 1 : valueEnd
    if (index < items.length)
      return text.slice(0, start) + indented(entry, columnAt(text, start)) + text.slice(end)
    const lineEnd = text.indexOf('\n', end)
    const [head, rest] = lineEnd < 0 ? [text, '\n'] : [text.slice(0, lineEnd), text.slice(lineEnd)]
    const column = columnAt(text, node.range?.[0] ?? 0)
    return `${head}\n${' '.repeat(column)}- ${indented(entry, column + 2)}${rest}`
  }
  const isEmpty = (isSeq(node) && node.items.length === 0) || (isScalar(node) && node.value === null)
  if (!isEmpty) throw new NotEditable(`Its \`${list}\` is no list of lines: change it by hand.`)
  const [start, end] = (isNode(node) && node.range) || [0, 0]
  return `${text.slice(0, start).trimEnd()}\n  - ${indented(entry, 4)}${text.slice(end).replace(/^(?!\n|$)/, '\n')}`
}

function columnAt(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

/** Indents all lines but the first, which follows its dash. */
function indented(entry: string, column: number): string {
  return entry.replaceAll(/\n(?=[^\n])/g, `\n${' '.repeat(column)}`)
}
