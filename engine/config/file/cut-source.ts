/** Owns a file that is parsed in pieces: pieces that an earlier version of it had are taken over. */

import { backgroundMs, takeTurn } from '../../turn.ts'
import { detached } from '../detached.ts'
import type { Path } from '../path.ts'
import type { Span } from '../secret.ts'
import type { CutList, CutMap, Part, Stretch } from './cut.ts'
import { type Lines, lineAt } from './lines.ts'
import { type Piece, parsePiece } from './piece.ts'
import { createPlaces, type PlacesOptions, secretSpansIn } from './places.ts'
import { problemsOf } from './problems.ts'
import type { Parsed, Source, SourceOptions } from './source.ts'
import { itemsAt } from './source-items.ts'
import type { Fault } from './syntax.ts'
import { createReader, type DocumentReader } from './whole-source.ts'

/** A piece in its place. */
interface Leaf extends Stretch {
  readonly piece: Piece
  /** The path of what the piece's document holds: of a pair the map around it, of an item the list. */
  readonly above: Path
}

export interface CutSource {
  readonly parsed: Parsed
  readonly pieces: readonly Piece[]
}

/** Nothing where a piece turns out to mean something else than it would in its file. `known`: earlier versions. */
export async function parseCutText(
  options: SourceOptions,
  lines: Lines,
  map: CutMap<Stretch>,
  known: readonly CutSource[],
): Promise<CutSource | undefined> {
  const { text } = options
  // Each of these steps goes through all stretches at once.
  const step = async <Made>(make: () => Made): Promise<Made> => {
    await takeTurn(backgroundMs)
    return make()
  }
  const stretches = await step(() => [...stretchesIn(map)])
  const take = await step(() => createTaker(known))
  const parsed = await parseStretches(text, stretches, take)
  if (!parsed) return undefined
  const leaves: Leaf[] = []
  const root = await step(() => placeMap(map, []))
  const places = createPlaces(options, lines, createSecrets(leaves, options))
  const faults = await step(() =>
    leaves.flatMap((leaf, index) => faultsIn(leaf, index === leaves.length - 1)),
  )
  const pieces = [...parsed.values()]
  if (faults.length > 0) return { parsed: { problems: problemsOf(faults, places, lines, text) }, pieces }
  return { parsed: { source: await step(() => createSource(options, lines, root, places.at)) }, pieces }

  function placeMap(cut: CutMap<Stretch>, path: Path): CutMap<Leaf> {
    const parts = Array.from(cut.parts, ([key, part]): [string, Part<Leaf>] => {
      if (part.kind === 'map') return [key, placeMap(part, [...path, key])]
      if (part.kind === 'stretch') return [key, place(part, path)]
      return [key, { ...part, items: part.items.map((item) => place(item, [...path, key])) }]
    })
    return { ...cut, parts: new Map(parts) }
  }

  function place(stretch: Stretch, above: Path): Leaf {
    const leaf = { ...stretch, piece: parsed?.get(stretch) as Piece, above }
    leaves.push(leaf)
    return leaf
  }
}

/** In the order of the text. */
function* stretchesIn(part: Part<Stretch>): Iterable<Stretch> {
  if (part.kind === 'stretch') yield part
  else for (const one of part.kind === 'list' ? part.items : part.parts.values()) yield* stretchesIn(one)
}

/** Looks like an anchor, an alias or a tag, which are found for certain only by parsing. */
const mayHaveProperties = /(?:^|[\s,[{])[&*!][^\s*]/

/** Nothing as soon as one cannot stand alone; those that most likely cannot come first. */
async function parseStretches(
  text: string,
  stretches: readonly Stretch[],
  take: (text: string) => Piece | undefined,
): Promise<Map<Stretch, Piece> | undefined> {
  const pieces = new Map<Stretch, Piece>()
  const plain: Stretch[] = []
  // A copy: a slice would keep the whole text of its version.
  const parse = (own: string, { key }: Stretch) => parsePiece(detached(own), key)
  for (const stretch of stretches) {
    await takeTurn(backgroundMs)
    const own = text.slice(stretch.start, stretch.end)
    const known = take(own)
    if (known || mayHaveProperties.test(own)) {
      const piece = known ?? (await parse(own, stretch))
      if (!piece) return undefined
      pieces.set(stretch, piece)
    } else plain.push(stretch)
  }
  for (const stretch of plain) {
    await takeTurn(backgroundMs)
    const piece = await parse(text.slice(stretch.start, stretch.end), stretch)
    if (!piece) return undefined
    pieces.set(stretch, piece)
  }
  return pieces
}

/** Each piece once, so that two items of one text stay two. */
function createTaker(known: readonly CutSource[]): (text: string) => Piece | undefined {
  const left = new Map<string, Piece[]>()
  for (const piece of new Set(known.flatMap(({ pieces }) => pieces))) {
    const same = left.get(piece.text)
    if (same) same.push(piece)
    else left.set(piece.text, [piece])
  }
  return (text) => left.get(text)?.shift()
}

function faultsIn({ piece, start }: Leaf, isLast: boolean): Fault[] {
  // What is missing at the end of a piece is missing on its last line, and not where the next one begins.
  const end = isLast ? piece.text.length : piece.text.trimEnd().length
  return piece.faults.map(({ code, offset }) => ({ code, offset: start + Math.min(offset, end) }))
}

function createSecrets(
  leaves: readonly Leaf[],
  { holdsSecrets }: PlacesOptions,
): (lineStart: number) => readonly Span[] {
  const found = new Map<Leaf, readonly Span[]>()
  return (lineStart) => {
    const leaf = leafAt(leaves, lineStart)
    if (!leaf) return []
    const spans = found.get(leaf) ?? spansIn(leaf)
    found.set(leaf, spans)
    return spans
  }

  function spansIn({ piece, start, above }: Leaf): Span[] {
    // A path of the root is no question: below it may be secrets even where at it there are none.
    if (above.length > 0 && !holdsSecrets(above)) return []
    const spans = secretSpansIn(piece.document(), above, holdsSecrets)
    return spans.map((span) => ({ start: start + span.start, end: start + span.end }))
  }
}

/** Leaves are in the order of the text. */
function leafAt(leaves: readonly Leaf[], offset: number): Leaf | undefined {
  let low = 0
  let high = leaves.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((leaves[middle]?.end ?? 0) > offset) high = middle
    else low = middle + 1
  }
  const leaf = leaves[low]
  return leaf && leaf.start <= offset ? leaf : undefined
}

function createSource(
  { file, name }: SourceOptions,
  lines: Lines,
  root: CutMap<Leaf>,
  placeAt: (offset: number) => ReturnType<Source['place']>,
): Source {
  const readers = new WeakMap<Piece, DocumentReader>()
  const readerOf = ({ piece }: Leaf): DocumentReader => {
    const reader = readers.get(piece) ?? createReader(piece.document(), piece.text)
    readers.set(piece, reader)
    return reader
  }
  const offsetOf = (path: Path, at?: 'key' | 'value'): number => {
    const { part, rest } = find(root, path)
    if (part.kind === 'stretch') {
      if (rest.length === 1 && rest[0] === 0) return part.start + part.piece.offset
      return part.start + readerOf(part).offset(rest, at)
    }
    return at === 'key' ? (part.keyOffset ?? part.offset) : part.offset
  }
  const value = valueIn(root)
  return {
    file,
    name,
    value,
    isCut: true,
    items(path) {
      const items = itemsAt(value, path)
      const { part } = find(root, path)
      return items && part.kind === 'list' ? part.items.map(({ piece }) => piece) : items
    },
    place: (path, at) => placeAt(offsetOf(path, at)),
    position: (path) => lineAt(lines, offsetOf(path)),
    placeInText(path, offset) {
      const { part, rest } = find(root, path)
      if (part.kind !== 'stretch') return placeAt(offsetOf(path))
      return placeAt(part.start + readerOf(part).offsetInText(rest, offset))
    },
    isSingleQuoted(path) {
      const { part, rest } = find(root, path)
      return part.kind === 'stretch' && readerOf(part).isSingleQuoted(rest)
    },
    digits(path) {
      const { part, rest } = find(root, path)
      return part.kind === 'stretch' ? readerOf(part).digits(rest) : undefined
    },
    cutTexts(below) {
      const { part, rest } = find(root, below)
      if (part.kind !== 'stretch' || part.piece.cuts.length === 0) return []
      return readerOf(part)
        .cutTexts(rest)
        .map((offset) => placeAt(part.start + offset))
    },
  }
}

/** The part that holds the path, and the path within its document; or the nearest part above it. */
function find(root: CutMap<Leaf>, path: Path): { readonly part: Part<Leaf>; readonly rest: Path } {
  let part: Part<Leaf> = root
  for (const [index, segment] of path.entries()) {
    const next: Part<Leaf> | undefined =
      part.kind === 'map'
        ? part.parts.get(String(segment))
        : part.kind === 'list'
          ? part.items[Number(segment)]
          : undefined
    if (!next) return { part, rest: [] }
    // A pair's document is a map of it; an item's is a list of it alone.
    if (next.kind === 'stretch') {
      return { part: next, rest: [part.kind === 'list' ? 0 : String(segment), ...path.slice(index + 1)] }
    }
    part = next
  }
  return { part, rest: [] }
}

function valueIn(part: CutMap<Leaf> | CutList<Leaf>): unknown {
  if (part.kind === 'list') return part.items.map(({ piece }) => piece.value)
  const map: Record<string, unknown> = {}
  for (const [key, one] of part.parts) {
    map[key] = one.kind === 'stretch' ? (one.piece.value as Record<string, unknown>)[key] : valueIn(one)
  }
  return map
}
