/** Owns a file that is parsed as one document, however it is written. */

import { type Alias, type Document, isAlias, isCollection, isScalar, type Node, Scalar } from 'yaml'
import { inTurns } from '../../turn.ts'
import type { Path } from '../path.ts'
import type { Span } from '../secret.ts'
import { followAliases } from './aliases.ts'
import { readDocument } from './document.ts'
import { valueOfDocument } from './document-value.ts'
import { faultsOf } from './faults.ts'
import type { Lines } from './lines.ts'
import { lineAt } from './lines.ts'
import { findNode } from './node-finder.ts'
import { cutTexts } from './piece.ts'
import { createPlaces, secretSpansIn } from './places.ts'
import { problemsOf } from './problems.ts'
import { offsetInRaw } from './scalar-offset.ts'
import { valueLimit } from './shape.ts'
import type { Parsed, SourceOptions } from './source.ts'
import { itemsAt } from './source-items.ts'

export async function parseWhole(options: SourceOptions, lines: Lines): Promise<Parsed> {
  const { file, name, text } = options
  const { document, hasProperties } = await inTurns(readDocument(text))
  let secrets: readonly Span[] | undefined
  const places = createPlaces(options, lines, () => {
    secrets ??= secretSpansIn(document, [], options.holdsSecrets)
    return secrets
  })
  const aliases = hasProperties ? followAliases(document) : undefined
  const faults = faultsOf(document, text, aliases)
  if (faults.length > 0) return { problems: problemsOf(faults, places, lines, text) }
  if (aliases?.lost) return { problems: [{ ...brokenAlias, place: places.at(offsetOf(aliases.lost)) }] }
  if (aliases && aliases.size > valueLimit) {
    return { problems: [{ ...aliasBomb, place: places.at(offsetOf(aliases.first)) }] }
  }
  const value = await valueOfDocument(document, hasProperties)
  const reader = createReader(document, text)
  return {
    source: {
      file,
      name,
      value,
      isCut: false,
      items: (path) => itemsAt(value, path),
      place: (path, at) => places.at(reader.offset(path, at)),
      position: (path) => lineAt(lines, reader.offset(path)),
      placeInText: (path, offset) => places.at(reader.offsetInText(path, offset)),
      isSingleQuoted: reader.isSingleQuoted,
      digits: reader.digits,
      cutTexts: (below) => reader.cutTexts(below).map((offset) => places.at(offset)),
    },
  }
}

function offsetOf(alias: Alias | undefined): number {
  return alias?.range?.[0] ?? 0
}

/** The alias is not named: it may be a secret that lacks its quotes. */
const brokenAlias = {
  severity: 'error',
  code: 'YAML_SYNTAX',
  message: 'This alias has no anchor before it',
  hint: 'Text that begins with `*` needs quotes; an anchor is written `&name` before its first alias.',
} as const

const aliasBomb = {
  severity: 'error',
  code: 'TOO_MANY_ALIASES',
  message: "The file's aliases expand to more values than can be read",
  hint: 'Write fewer aliases of anchors that hold aliases themselves, and none inside its own anchor.',
} as const

/** What is asked of one document; offsets are those of its text. */
export interface DocumentReader {
  offset(path: Path, at?: 'key' | 'value'): number
  offsetInText(path: Path, offset: number): number
  isSingleQuoted(path: Path): boolean
  digits(path: Path): string | undefined
  cutTexts(below: Path): number[]
}

export function createReader(document: Document, text: string): DocumentReader {
  const nodeAt = (path: Path): Node | undefined => {
    const { value } = findNode(document, path)
    return isAlias(value) ? value.resolve(document) : value
  }
  return {
    offset(path, at = 'value') {
      const { key, value } = findNode(document, path)
      const node = at === 'key' ? (key ?? value) : (value ?? key)
      return node?.range?.[0] ?? 0
    },
    offsetInText(path, offset) {
      const node = nodeAt(path)
      if (!isScalar(node) || !node.range) return this.offset(path)
      const raw = text.slice(node.range[0], node.range[1])
      return node.range[0] + offsetInRaw(raw, String(node.value), offset)
    },
    isSingleQuoted(path) {
      const node = nodeAt(path)
      const holder = nodeAt(path.slice(0, -1))
      return (
        isScalar(node) && node.type === Scalar.QUOTE_SINGLE && isCollection(holder) && holder.flow === true
      )
    },
    digits(path) {
      const node = nodeAt(path)
      const written = isScalar(node) && typeof node.value === 'number' ? node.source : undefined
      return written === undefined ? undefined : /^\+?(-?\d+)$/.exec(written)?.[1]
    },
    cutTexts: (below) => cutTexts(findNode(document, below).value, text),
  }
}
