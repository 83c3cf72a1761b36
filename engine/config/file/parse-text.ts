/** Parses a text as YAML: its value with the place of each part, or the problems that make it unreadable. */

import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Parser,
  Scalar,
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
   * its content. An offset of -1 stands for none.
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

/** Whether a path may lead to secrets. If not, nothing below it is hidden either. */
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
const maxOfFile = 1_000_000

/** No configuration is nested deeper, and every stack allows for this depth. */
const maxDepth = 500

/** Parses JSON as YAML too, because it is a subset. */
export function parseText({
  kind,
  file,
  calledFile,
  text: written,
  maxValues = maxOfFile,
}: WrittenText): ParsedText {
  const { text, unclosed } = blankComments(written)
  const lineStarts = findLineStarts(text)
  const placed = { file, ...(calledFile !== undefined && { calledFile }), text, lineStarts }
  const refuse = (faults: readonly Fault[], secrets: readonly Span[] = []): ParsedText => ({
    problems: problemsOf(faults, { ...placed, secrets }),
  })
  if (unclosed !== undefined) return refuse([{ code: 'OPEN_COMMENT', offset: unclosed }])
  try {
    const [document, second] = composer().compose(new Parser().parse(text), true, text.length)
    if (second) return refuse([{ code: 'MULTIPLE_DOCS', offset: second.range[0] }])
    if (!document) throw new Error('The YAML library gave no document')
    const secrets = secretSpansIn(document, holdsSecrets[kind])
    const { faults, targetOf, templatesInComments } = inspect(document, text, maxValues)
    if (faults.length > 0) return refuse(faults, secrets)
    // The library must not count aliases, because it would walk the document once for each.
    const value: unknown = document.toJS({ maxAliasCount: -1 })
    const nodes = locateNodes(document.contents, value, targetOf)
    return { ...placed, secrets, value, nodes, templatesInComments }
  } catch (error) {
    // The stack is too small for the nesting.
    if (!(error instanceof RangeError)) throw error
    return refuse([{ code: 'RESOURCE_EXHAUSTION', offset: 0 }])
  }
}

/** Creates a composer that leaves duplicate keys to `inspect`, because the library compares each key with all others. */
function composer(): Composer {
  return new Composer({
    merge: true,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    resolveKnownTags: false,
    logLevel: 'error',
  })
}

interface Inspection {
  readonly faults: readonly Fault[]
  readonly templatesInComments: readonly number[]
  targetOf(alias: Alias): Node | undefined
}

/** Finds in one walk mistakes that the library does not report, or that would cause errors later. */
function inspect({ contents, errors, warnings }: Document, text: string, maxValues: number): Inspection {
  const refused = [...errors, ...warnings].map(({ code, pos, message }): Fault => {
    // A missing bracket is reported at the end of its last line, and not at the beginning of the next one.
    const end = text.slice(0, pos[0]).trimEnd().length
    const isMissed = code === 'BAD_INDENT' && message.includes('end with a') && pos[0] < text.length
    return { code, offset: isMissed && text.slice(end, pos[0]).includes('\n') ? end : pos[0] }
  })
  let tooDeep: Fault | undefined
  const duplicates: Fault[] = []
  const unreadable: Fault[] = []
  const templatesInComments: number[] = []
  const anchors = new Map<string, Node>()
  /** The number of values that an anchor stands for, once it is complete. */
  const sizes = new Map<Node, number>()
  const targets = new Map<Alias, Node | undefined>()
  const targetOf = (alias: Alias) => targets.get(alias)
  const size = walk(contents, 1)
  return { faults: faults(), templatesInComments, targetOf }

  /** Returns the number of values in a node with every alias expanded. */
  function walk(node: unknown, depth: number): number {
    if (isAlias(node)) return followAlias(node)
    const { anchor } = (node ?? {}) as { anchor?: string }
    if (anchor !== undefined) anchors.set(anchor, node as Node)
    let values = 1
    if (isScalar(node)) inspectScalar(node)
    else if (isCollection(node) && depth > maxDepth)
      tooDeep ??= { code: 'RESOURCE_EXHAUSTION', offset: startOf(node) }
    else if (isMap(node)) values += walkMap(node, depth)
    else if (isSeq(node)) for (const item of node.items) values += walk(item, depth + 1)
    if (anchor !== undefined) sizes.set(node as Node, values)
    return values
  }

  function followAlias(alias: Alias): number {
    const target = anchors.get(alias.source)
    targets.set(alias, target)
    // An alias inside of its own anchor has no end.
    return target ? (sizes.get(target) ?? Number.POSITIVE_INFINITY) : 1
  }

  function inspectScalar({ type, range, comment }: Scalar): void {
    if (type !== Scalar.PLAIN || !range) return
    if (/^\/[/*]/.test(text.slice(range[0], range[0] + 2)))
      unreadable.push({ code: 'FOREIGN_COMMENT', offset: range[0] })
    if (comment && /^\{\{|^\{%/.test(comment)) templatesInComments.push(range[1])
  }

  function walkMap({ items }: YAMLMap, depth: number): number {
    let values = 0
    const names = new Set<unknown>()
    for (const pair of items) {
      const { key, value } = pair
      values += walk(key, depth + 1) + walk(value, depth + 1)
      const name = isScalar(key) ? key.value : key
      if (names.has(name)) duplicates.push({ code: 'DUPLICATE_KEY', offset: startOf(key) })
      names.add(name)
      if (isMerge(pair) && !isMergeable(value)) unreadable.push({ code: 'BAD_MERGE', offset: startOf(key) })
    }
    return values
  }

  function isMergeable(value: unknown): boolean {
    const source = isAlias(value) ? targetOf(value) : value
    return isSeq(source) ? source.items.every(isMapOrLost) : isMapOrLost(source)
  }

  /** An alias without an anchor is reported as a mistake of its own. */
  function isMapOrLost(value: unknown): boolean {
    return isAlias(value) ? isMapOrLost(targetOf(value)) : value === undefined || isMap(value)
  }

  function faults(): Fault[] {
    if (tooDeep) return [tooDeep]
    const found = [...duplicates, ...(refused.length === 0 ? unreadable : [])]
    if (found.length === 0 && refused.length > 0) return refused
    if (found.length > 0) return [...refused, ...found].sort((one, other) => one.offset - other.offset)
    const [[first] = [], lost] = [[...targets.keys()], [...targets].find(([, target]) => !target)]
    if (lost) return [{ code: 'LOST_ALIAS', offset: startOf(lost[0]) }]
    return first && size > maxValues ? [{ code: 'TOO_MANY_ALIASES', offset: startOf(first) }] : []
  }
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && (!key.type || key.type === Scalar.PLAIN)
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? -1
}

/** Fills `nodes` of a {@link SoundText}. */
function locateNodes(contents: unknown, value: unknown, targetOf: Inspection['targetOf']): Int32Array {
  const nodes: number[] = []
  write(contents, -1, value)
  return Int32Array.from(nodes)

  function write(written: unknown, keyStart: number, value: unknown): void {
    const node = isAlias(written) ? targetOf(written) : (written as Node | null)
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
      const source = isAlias(value) ? targetOf(value) : value
      for (const merged of isSeq(source) ? source.items : [source]) {
        const map = isAlias(merged) ? targetOf(merged) : merged
        if (isMap(map)) pairsOf(map, pairs)
      }
    }
    return pairs
  }
}
