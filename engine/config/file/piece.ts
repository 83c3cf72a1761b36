/** Owns one stretch of a file, parsed by itself: what it says, and where it says it. */

import { type Document, isMap, isScalar, isSeq, type Node, Scalar, visit } from 'yaml'
import type { Stages } from '../memory.ts'
import { atOnce, inTurns } from '../turn.ts'
import { readDocument } from './document.ts'
import { valueOfDocument } from './document-value.ts'
import { faultsOf } from './faults.ts'
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

/** Nothing for a stretch that means something else alone, or is not what it seemed to be. */
export async function parsePiece(text: string, key?: string): Promise<Piece | undefined> {
  const read = await inTurns(readDocument(text))
  const faults = faultsOf(read.document, text)
  if (faults.length === 0 && (read.hasProperties || !isAlone(read.document, key))) return undefined
  const { contents } = read.document
  const whole = faults.length > 0 ? undefined : await valueOfDocument(read.document, false)
  const first = isSeq(contents) ? (contents.items[0] as Node) : contents
  let kept: Document | undefined = text.length > longest ? read.document : undefined
  return {
    text,
    value: key === undefined && Array.isArray(whole) ? whole[0] : whole,
    offset: first?.range?.[0] ?? 0,
    faults,
    cuts: cutTexts(read.document, text),
    document: () => (kept ??= atOnce(readDocument(text)).document),
    stages: new Map(),
  }
}

function isAlone({ contents }: Document, key: string | undefined): boolean {
  if (key === undefined) return isSeq(contents) && contents.items.length === 1
  if (!isMap(contents) || contents.items.length !== 1) return false
  const written = contents.items[0]?.key
  return isScalar(written) && written.value === key
}

/** Where YAML took ` #` in front of a placeholder for the start of a comment. */
export function cutTexts(node: Document | Node | undefined, text: string): number[] {
  const cuts: number[] = []
  if (!node || !/#\{[{%]/.test(text)) return cuts
  visit(node, {
    Scalar(_, { comment, range, type }) {
      if (type === Scalar.PLAIN && comment && range && /^\{\{|^\{%/.test(comment)) cuts.push(range[1])
    },
  })
  return cuts
}
