/** Parses a text as YAML: its value with the place of each part, or the problems that make it unreadable. */

import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Path } from '../values/path.ts'
import type { Span } from '../values/secret.ts'
import type { Diagnostic } from './diagnostic.ts'
import { blankComments } from './json5-comments.ts'
import { findLineStarts, type PlacedText } from './places.ts'
import { secretSpansIn } from './secret-spans.ts'
import { type Fault, problemsOf } from './syntax.ts'

/** A text and how it is to be read, since one file can be read in several ways. */
export interface WrittenText {
  readonly kind: 'configuration' | 'mappings' | 'schema'
  /** The absolute path. */
  readonly file: string
  /** The name that is shown for the file, as in a place. */
  readonly calledFile?: string | undefined
  /** The text without a byte order mark. */
  readonly text: string
  /** The limit of values, with every alias expanded. Default: a million. */
  readonly maxValues?: number
}

/** Plain data, so that a thread can post it. */
export type ParsedText = SoundText | { readonly problems: readonly Diagnostic[] }

export interface SoundText extends PlacedText {
  /** The value as parsed; `null` for a file without content. */
  readonly value: unknown
  /**
   * Five numbers for each value, in the order of a walk from the top through `Object.keys`: the start of its key, its
   * start, the start and end of its target, which differs for an alias, and the index of the first number after all of
   * its content. An offset of -1 means none.
   */
  readonly nodes: Int32Array
  /** Where YAML took ` #` in front of a placeholder for the start of a comment. */
  readonly templatesInComments: readonly number[]
}

export interface TextParser {
  /** @throws ReadError if the text takes too long */
  parse(written: WrittenText): Promise<ParsedText>
}

/** The number of entries in `nodes` for each value. */
export const numbersPerNode = 5

/** True if a path may lead to secrets. If not, nothing below it is hidden either. */
const holdsSecrets: Readonly<Record<WrittenText['kind'], (path: Path) => boolean>> = {
  configuration: (path) =>
    !(path[0] === 'hooks' && path[1] === 'mappings') || leadsToParameters(path.slice(1)),
  mappings: (path) => path[0] === 'endpoints' || leadsToParameters(path),
  schema: () => false,
}

/** `mappings[3].transform.with` is what a transform is given, and the rest of a mapping is for senders. */
function leadsToParameters([list, , transform, given]: Path): boolean {
  return list === 'mappings' && (transform ?? 'transform') === 'transform' && (given ?? 'with') === 'with'
}

/** No configuration has more values, unless by aliases of aliases. */
const maxFileValues = 1_000_000

/** No configuration is nested deeper, and every stack allows for this depth. */
const maxDepth = 500

/** Duplicate keys are left to `inspect`, because the library compares each key with all others. */
const options = {
  merge: true,
  stringKeys: true,
  uniqueKeys: false,
  prettyErrors: false,
  resolveKnownTags: false,
  logLevel: 'error',
} as const

/** Parses JSON as YAML too, because it is a subset. */
export function parseText({
  kind,
  file,
  calledFile,
  text: written,
  maxValues = maxFileValues,
}: WrittenText): ParsedText {
  const { text, unclosed } = blankComments(written)
  const lineStarts = findLineStarts(text)
  const placed = { file, ...(calledFile !== undefined && { calledFile }), text, lineStarts }
  const refuse = (faults: readonly Fault[], secrets: readonly Span[] = []): ParsedText => ({
    problems: problemsOf(faults, { ...placed, secrets }),
  })
  if (unclosed !== undefined) return refuse([{ code: 'OPEN_COMMENT', offset: unclosed }])
  try {
    const document = parseDocument(text, options)
    const secrets = secretSpansIn(document, holdsSecrets[kind])
    const { faults, targets, templatesInComments } = inspect(document, text)
    if (faults.length > 0) return refuse(faults, secrets)
    // The library must not count aliases, because it multiplies their numbers instead of counting values.
    const value: unknown = document.toJS({ maxAliasCount: -1 })
    const [alias] = targets.keys()
    if (alias && sizeOf(value) > maxValues)
      return refuse([{ code: 'TOO_MANY_ALIASES', offset: startOf(alias) }], secrets)
    const nodes = locateNodes(document.contents, value, targets)
    return { ...placed, secrets, value, nodes, templatesInComments }
  } catch (error) {
    // The stack is too small for the nesting.
    if (!(error instanceof RangeError)) throw error
    return refuse([{ code: 'RESOURCE_EXHAUSTION', offset: 0 }])
  }
}

/** Returns the number of values with every alias expanded. An alias inside of its own anchor has no end. */
function sizeOf(value: unknown, sizes = new Map<unknown, number>()): number {
  if (typeof value !== 'object' || value === null) return 1
  const cachedSize = sizes.get(value)
  if (cachedSize !== undefined) return cachedSize
  sizes.set(value, Number.POSITIVE_INFINITY)
  const size = Object.values(value).reduce((sum, item) => sum + sizeOf(item, sizes), 1)
  sizes.set(value, size)
  return size
}

type Targets = ReadonlyMap<unknown, Node | undefined>

/** Finds in one walk mistakes that the library does not report, or that would cause errors later, and what aliases mean. */
function inspect(document: Document, text: string) {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node | undefined>()
  const templatesInComments: number[] = []
  const [duplicates, unreadable]: [Fault[], Fault[]] = [[], []]
  let tooDeep: Fault | undefined
  visit(document, (_key, node, path) => {
    if (isAlias(node)) targets.set(node, anchors.get(node.source))
    else if (isPair(node)) {
      if (isMerge(node) && !isMergeable(node.value, anchors))
        unreadable.push({ code: 'BAD_MERGE', offset: startOf(node.key) })
    } else if ((isScalar(node) || isCollection(node)) && node.anchor) anchors.set(node.anchor, node)
    if (isScalar(node) && node.type === Scalar.PLAIN && node.range) {
      if (/^\/[/*]/.test(text.slice(node.range[0], node.range[0] + 2)))
        unreadable.push({ code: 'FOREIGN_COMMENT', offset: node.range[0] })
      if (node.comment && /^\{\{|^\{%/.test(node.comment)) templatesInComments.push(node.range[1])
    }
    if (isMap(node)) duplicates.push(...duplicatesIn(node))
    if (!isCollection(node) || path.filter(isCollection).length < maxDepth) return undefined
    tooDeep ??= { code: 'RESOURCE_EXHAUSTION', offset: startOf(node) }
    return visit.BREAK
  })
  return { faults: faults(), targets, templatesInComments }

  function faults(): Fault[] {
    if (tooDeep) return [tooDeep]
    const refused = [...document.errors, ...document.warnings].map((error) => faultOf(error, text))
    const found = [...duplicates, ...(refused.length === 0 ? unreadable : [])]
    if (found.length === 0 && refused.length > 0) return refused
    if (found.length > 0) return [...refused, ...found].sort((one, other) => one.offset - other.offset)
    const lost = [...targets].find(([, target]) => !target)
    return lost ? [{ code: 'LOST_ALIAS', offset: startOf(lost[0]) }] : []
  }
}

function faultOf({ code, pos, message }: Document['errors' | 'warnings'][number], text: string): Fault {
  // A missing bracket is reported at the end of its last line, and not at the beginning of the next one.
  const end = text.slice(0, pos[0]).trimEnd().length
  const isMissed = code === 'BAD_INDENT' && message.includes('end with a') && pos[0] < text.length
  return { code, offset: isMissed && text.slice(end, pos[0]).includes('\n') ? end : pos[0] }
}

function duplicatesIn({ items }: YAMLMap): Fault[] {
  const names = new Set<unknown>()
  return items.flatMap(({ key }) => {
    const name = isScalar(key) ? key.value : key
    const isTwice = names.has(name)
    names.add(name)
    return isTwice ? [{ code: 'DUPLICATE_KEY' as const, offset: startOf(key) }] : []
  })
}

/** True if a value is a map, an alias of one, or a list of them. A lost alias is reported as a mistake of its own. */
function isMergeable(value: unknown, anchors: ReadonlyMap<string, Node>): boolean {
  const resolve = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node)
  const source = resolve(value)
  return (isSeq(source) ? source.items.map(resolve) : [source]).every(
    (one) => one === undefined || isMap(one),
  )
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && (!key.type || key.type === Scalar.PLAIN)
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? -1
}

/** Fills `nodes` of a {@link SoundText}. */
function locateNodes(contents: unknown, value: unknown, targets: Targets): Int32Array {
  const nodes: number[] = []
  write(contents, -1, value)
  return Int32Array.from(nodes)

  function write(written: unknown, keyStart: number, value: unknown): void {
    const node = isAlias(written) ? targets.get(written) : (written as Node | null)
    const index = nodes.push(keyStart, startOf(written), startOf(node), node?.range?.[1] ?? -1, 0)
    if (isSeq(node)) {
      for (const [position, item] of node.items.entries()) write(item, -1, (value as unknown[])[position])
    } else if (isMap(node)) {
      const pairs = pairsOf(node, new Map())
      for (const [name, item] of Object.entries(value as object)) {
        const pair = pairs.get(name)
        write(pair?.value, startOf(pair?.key), item)
      }
    }
    nodes[index - 1] = nodes.length
  }

  /** Collects the pairs of a map: its own, and those that it merges. */
  function pairsOf({ items }: YAMLMap, pairs: Map<string, Pair>): Map<string, Pair> {
    for (const pair of items) {
      const name = String((pair.key as Scalar).value)
      if (!isMerge(pair) && !pairs.has(name)) pairs.set(name, pair)
    }
    for (const { value } of items.filter(isMerge)) {
      const source = isAlias(value) ? targets.get(value) : value
      for (const merged of isSeq(source) ? source.items : [source]) {
        const map = isAlias(merged) ? targets.get(merged) : merged
        if (isMap(map)) pairsOf(map, pairs)
      }
    }
    return pairs
  }
}
