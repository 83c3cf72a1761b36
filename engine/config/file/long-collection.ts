/**
 * Owns putting together what is too long for one step: the collections in a long collection are taken out, each is put
 * together by itself, and they are put back in their places.
 */

import {
  Composer,
  type CST,
  type Document,
  isCollection,
  isPair,
  isSeq,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

type Token = CST.BlockMap | CST.BlockSequence | CST.FlowCollection
type Collection = YAMLMap | YAMLSeq
type Options = ConstructorParameters<typeof Composer>[0]

/** Characters that are put together within a few milliseconds. */
const longest = 8192

/**
 * Leaves of the tokens what is put together in one step. The answer puts the rest into the document that is made of
 * them, its errors too.
 */
export function* composeLong(
  tokens: readonly CST.Token[],
  end: number,
  options: Options,
): Generator<void, (document: Document) => void> {
  const documents = tokens.filter((token) => token.type === 'document')
  const [only] = documents
  // A text of several documents is refused anyway.
  const token = documents.length === 1 ? collectionOf(only?.value) : undefined
  if (!token || end - token.offset <= longest) return () => {}
  const removed = yield* takeOut(token, end, options)
  return (document) => {
    if (isCollection(document.contents)) putBack(document.contents as Collection, removed)
    const { errors, warnings } = joined([document, ...faultsOf(removed)])
    document.errors = errors.toSorted((one, other) => one.pos[0] - other.pos[0])
    document.warnings = warnings
  }
}

type Faults = Pick<Document, 'errors' | 'warnings'>

interface Removed {
  readonly node: Collection
  readonly faults: Faults
}

function faultsOf(removed: ReadonlyMap<number, Removed>): Faults[] {
  return Array.from(removed.values(), ({ faults }) => faults)
}

function joined(all: readonly Faults[]): Faults {
  return { errors: all.flatMap(({ errors }) => errors), warnings: all.flatMap(({ warnings }) => warnings) }
}

/** The collections in this one by their offsets. They are empty in it from now on. */
function* takeOut(token: Token, end: number, options: Options): Generator<void, Map<number, Removed>> {
  const removed = new Map<number, Removed>()
  for (const [index, { value }] of token.items.entries()) {
    const child = collectionOf(value)
    if (!child || child.items.length === 0) continue
    const made = yield* compose(child, offsetOf(token.items[index + 1]) ?? end, options)
    removed.set(child.offset, made)
    child.items = emptyItems(child, made.node.range?.[2] ?? child.offset)
  }
  return removed
}

/** What follows is measured from where this one ends; brackets say it themselves. */
function emptyItems({ type }: Token, end: number): Token['items'] {
  if (type === 'flow-collection') return []
  return [{ start: [{ type: 'newline', offset: end, indent: 0, source: '' }] }]
}

function* compose(token: Token, end: number, options: Options): Generator<void, Removed> {
  const isLong = end - token.offset > longest
  const removed = isLong ? yield* takeOut(token, end, options) : new Map<number, Removed>()
  yield
  const whole: CST.Document = { type: 'document', offset: token.offset, start: [], value: { ...token } }
  const [document] = new Composer(options).compose([whole])
  const node = document?.contents
  if (!document || !isCollection(node)) throw new Error('The YAML library gave no collection')
  putBack(node as Collection, removed)
  return { node: node as Collection, faults: joined([document, ...faultsOf(removed)]) }
}

function putBack(holder: Collection, removed: ReadonlyMap<number, Removed>): void {
  if (removed.size === 0) return
  const values: unknown[] = isSeq(holder) ? holder.items : holder.items.map(({ value }) => value)
  for (const value of values) {
    // In a list, `[a: [1]]` is a map of one pair.
    for (const one of isCollection(value) && !isRemoved(value)
      ? [value, ...value.items.map(valueAt)]
      : [value]) {
      const offset = isCollection(one) ? one.range?.[0] : undefined
      const { node } = (offset === undefined ? undefined : removed.get(offset)) ?? {}
      if (!node || !isCollection(one) || one.items.length > 0) continue
      ;(one as Collection).items = node.items as never
      one.range = node.range ?? null
      stretch(holder, one)
    }
  }

  function isRemoved({ range }: { range?: readonly number[] | null }): boolean {
    return range !== undefined && range !== null && removed.has(range[0] ?? -1)
  }
}

function valueAt(item: unknown): unknown {
  return isPair(item) ? item.value : item
}

/** A holder ends where what was put into it does, if not later. */
function stretch(holder: Collection, { range }: Node): void {
  if (holder.range && range && range[1] > holder.range[1]) {
    holder.range = [holder.range[0], range[1], Math.max(holder.range[2], range[2])]
  }
}

/** Nothing for one without its closing bracket, which is told best by whoever sees all of it. */
function collectionOf(token: CST.Token | null | undefined): Token | undefined {
  if (token?.type === 'block-map' || token?.type === 'block-seq') return token
  if (token?.type !== 'flow-collection') return undefined
  return token.end[0]?.source === (token.start.source === '{' ? '}' : ']') ? token : undefined
}

function offsetOf(item: CST.CollectionItem | undefined): number | undefined {
  return item?.start[0]?.offset ?? item?.key?.offset ?? item?.value?.offset
}
