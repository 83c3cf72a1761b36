/** Parses the text of a configuration, and finds the places of its values and comments in it. */

import { isDeepStrictEqual } from 'node:util'
import { isRecord, withoutJson5Comments } from '@reveille/engine'
import { parseJson } from '@reveille/kit'
import {
  CST,
  type Document,
  isNode,
  isScalar,
  Lexer,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml'

/** A configuration that cannot be edited: it is broken, has the entry already, or is written in a way that forbids the edit. */
export class NotEditable extends Error {
  override readonly name = 'NotEditable'
}

/** The options with which the loader reads it too. */
const options = { merge: true, stringKeys: true, resolveKnownTags: false, logLevel: 'error' } as const

export interface ParsedText {
  readonly text: string
  readonly document: Document
  /** An empty map where the file is empty. */
  readonly value: Readonly<Record<string, unknown>>
  readonly isJson: boolean
  /** The spaces of one level of indentation. */
  readonly unit: number
}

/** @throws NotEditable */
export function parseText(text: string): ParsedText {
  if (withoutJson5Comments(text) !== text)
    throw new NotEditable(
      'It has comments that begin with `//` or `/*`: write them with `#` for this command.',
    )
  const document = parseDocument(text, options)
  const [error] = document.errors
  if (error !== undefined) throw new NotEditable(brokenText(error))
  const value = contentOf(document)
  if (!isRecord(value)) throw new NotEditable('It does not hold keys.')
  return { text, document, value, isJson: parseJson(text) !== undefined, unit: unitOf(text) }
}

/** Whether the text has exactly this value, with every comment that the other text has. */
export function isEquivalent(text: string, value: unknown, other: string): boolean {
  const document = parseDocument(text, options)
  if (document.errors.length > 0) return false
  return isDeepStrictEqual(contentOf(document), value) && holdsAll(commentsIn(text), commentsIn(other))
}

/** @throws NotEditable where aliases expand without end */
function contentOf(document: Document): unknown {
  try {
    return document.toJS() ?? {}
  } catch {
    throw new NotEditable('Its aliases stand for too much.')
  }
}

function brokenText({ message, linePos }: YAMLParseError): string {
  const what = (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:$/, '')
  const place = linePos === undefined ? 'It' : `Line ${linePos[0].line}, column ${linePos[0].col}`
  return `${place} is no YAML: ${what.replace(/\.$/, '')}.`
}

/** The indentation of the first indented line that is no comment; two where there is none. */
function unitOf(text: string): number {
  return Math.min(/^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2, 8)
}

export interface Comment {
  readonly start: number
  /** The text from `#` to the end of its line. */
  readonly text: string
}

export function commentsIn(text: string): readonly Comment[] {
  const comments: Comment[] = []
  let start = 0
  let isContent = false
  for (const lexeme of new Lexer().lex(text)) {
    if (!isContent && lexeme.startsWith('#')) comments.push({ start, text: lexeme.trimEnd() })
    if (isContent || !markers.has(lexeme)) start += lexeme.length
    isContent = lexeme === CST.SCALAR
  }
  return comments
}

/** The markers that the lexer puts between the tokens of the text. */
const markers: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR])

function holdsAll(comments: readonly Comment[], wanted: readonly Comment[]): boolean {
  const left = comments.map(({ text }) => text)
  return wanted.every(({ text }) => {
    const index = left.indexOf(text)
    if (index !== -1) left.splice(index, 1)
    return index !== -1
  })
}

export type AnyPair = Pair<unknown, unknown>

export function pairOf(map: YAMLMap, name: string): AnyPair | undefined {
  return map.items.find(({ key }) => isScalar(key) && key.value === name)
}

/** Whether the map merges keys from elsewhere. */
export function merges(map: YAMLMap): boolean {
  return map.items.some(({ key }) => isScalar(key) && String(key.value) === '<<')
}

export interface Extent {
  readonly start: number
  readonly end: number
}

/** The extent of a node in the text; undefined where it has none. */
export function extentOf(text: string, node: unknown): Extent | undefined {
  const extent = placeOf(text, node)
  return extent && (extent.start === extent.end ? undefined : extent)
}

/** The extent of an item of a list or a map without comments after it; an empty item of a list has no length. */
export function extentOfItem(text: string, item: unknown): Extent | undefined {
  if (item === undefined) return undefined
  if (isNode(item)) return placeOf(text, item)
  const { key, value } = item as AnyPair
  const start = extentOf(text, key)
  return start && { start: start.start, end: extentOf(text, value)?.end ?? start.end }
}

/** The library extends a value at the end of a line over comments, up to the next token; this cuts it before them. */
function placeOf(text: string, node: unknown): Extent | undefined {
  if (!isNode(node) || !node.range) return undefined
  const [start, end] = node.range
  const line = lineStart(text, end)
  if (line <= start || text.slice(line, end).trim() !== '') return { start, end }
  return { start, end: beforeComments(text, start, line) }
}

/** A line that looks like a comment may be the last line of a block text. */
function beforeComments(text: string, start: number, end: number): number {
  const line = lineStart(text, end - 1)
  const before = /^\s*/.exec(text.slice(line, end))?.[0].length ?? 0
  if (line <= start || text[line + before] !== '#') return end
  const isComment = commentsIn(text).some((comment) => comment.start === line + before)
  return isComment ? beforeComments(text, start, line) : end
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

export function isInBraces(node: unknown): boolean {
  return isNode(node) && 'flow' in node && node.flow === true
}

export function hasProperties(node: unknown): boolean {
  return isNode(node) && (node.tag !== undefined || ('anchor' in node && node.anchor !== undefined))
}
