/** Owns one stretch of a file, parsed by itself: what it says, and where it says it. */

import {
  type Document,
  isDocument,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { atOnce, inTurns } from '../../turn.ts'
import type { Stages } from '../memory.ts'
import { readDocument } from './document.ts'
import { valueOfDocument } from './document-value.ts'
import { faultsOf, scalarsIn } from './faults.ts'
import type { Fault } from './syntax.ts'

/** Offsets count from the beginning of the stretch. */
export interface Piece {
  readonly text: string
  /** Of an item, the item; of a pair, a map of that pair. */
  readonly value: unknown
  /** Where the item stands, or the pair's key. */
  readonly offset: number
  /** What makes it unreadable; then there is no value. */
  readonly faults: readonly Fault[]
  /** Where texts were cut short. */
  readonly cuts: readonly number[]
  document(): Document
  /** What was made of it so far. */
  readonly stages: Stages
}

/** Longer stretches keep what was parsed of them; shorter ones are parsed again when a place in them is asked for. */
const longest = 16_384

/** Nothing for a stretch that means something else alone than in its file. `key`: it is a pair, and no item. */
export async function parsePiece(text: string, key?: string): Promise<Piece | undefined> {
  const { document, hasProperties } = await inTurns(readDocument(withNext(text, key)))
  const isSound = faultsOf(document, text).length === 0
  if (!isSound || hasProperties || !isAlone(document, text, key)) return parseBroken(text)
  const { contents } = document
  const whole = await valueOfDocument(document, false)
  const first = isSeq(contents) ? (contents.items[0] as Node) : contents
  let kept = text.length > longest ? document : undefined
  return {
    text,
    value: key === undefined && Array.isArray(whole) ? whole[0] : whole,
    offset: first?.range?.[0] ?? 0,
    faults: [],
    cuts: cutTexts(document, text),
    document: () => (kept ??= atOnce(readDocument(text)).document),
    stages: new Map(),
  }
}

/** Nothing for one that is broken only together with what follows. */
async function parseBroken(text: string): Promise<Piece | undefined> {
  const { document } = await inTurns(readDocument(text))
  const faults = faultsOf(document, text)
  if (faults.length === 0) return undefined
  return { text, value: undefined, offset: 0, faults, cuts: [], document: () => document, stages: new Map() }
}

/** With what could follow it: the parser goes on with some texts where it should not, once a comment stood before them. */
function withNext(text: string, key: string | undefined): string {
  if (isLast(text)) return text
  const indent = /^ */.exec(text)?.[0] ?? ''
  return `${text}${indent}${key === undefined ? '-' : `${key}_:`}\n`
}

/** Only the end of a file ends within a line. */
function isLast(text: string): boolean {
  return !text.endsWith('\n')
}

/** Whether it is one thing, and what follows another. */
function isAlone({ contents }: Document, text: string, key: string | undefined): boolean {
  if (key === undefined ? !isSeq(contents) : !isMap(contents)) return false
  const items = (contents as YAMLMap | YAMLSeq).items.map((item) => (isPair(item) ? item.key : item) as Node)
  const [first, next] = items
  if (items.length !== (isLast(text) ? 1 : 2) || (next?.range?.[0] ?? text.length) < text.length) return false
  return key === undefined || (isScalar(first) && first.value === key)
}

/** Where YAML took ` #` in front of a placeholder for the start of a comment. */
export function cutTexts(node: Document | Node | undefined, text: string): number[] {
  if (!node || !/\s#\{[{%]/.test(text)) return []
  return Array.from(scalarsIn(isDocument(node) ? node.contents : node)).flatMap(({ comment, range, type }) =>
    type === Scalar.PLAIN && comment && range && /^\{\{|^\{%/.test(comment) ? range[1] : [],
  )
}
