/** Makes one change to a configuration: in the text where its layout is known, else by the library, else not at all. */

import { isRecord } from '@reveille/engine'
import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from 'yaml'
import {
  type AnyPair,
  isEquivalent,
  isInBraces,
  merges,
  NotEditable,
  type ParsedText,
  pairOf,
  parseText,
} from './parsed-text.ts'
import {
  addEntry,
  addItem,
  addSection,
  removePair,
  replaceValue,
  type Splices,
  splice,
  withLineEndsOf,
} from './splices.ts'

type Path = readonly string[]

export type Change =
  /** Sets a value, and creates the maps on the way to it that are missing. */
  | { readonly kind: 'put'; readonly path: Path; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: Path }
  /** Adds an item to a list that exists. */
  | { readonly kind: 'append'; readonly path: Path; readonly value: unknown }

/** The text with this change and no other, comments included. @throws NotEditable with a sentence */
export function makeChange(text: string, change: Change): string {
  const written = parseText(text)
  const splices = splicesFor(written, change)
  const after = changed(written.value, change.path, change)
  const spliced = splices && splice(text, splices)
  if (spliced !== undefined && isEquivalent(spliced, after, text)) return spliced
  // In an unknown layout, such as a key behind a question mark, the content is right though the layout changes.
  if (written.isJson) return `${JSON.stringify(after, null, 2)}\n`
  const printed = withLineEndsOf(text, printedByLibrary(written, change) ?? '')
  if (isEquivalent(printed, after, text)) return printed
  throw new NotEditable(`Its \`${change.path.join('.')}\` cannot be changed alone: change it by hand.`)
}

/** @throws NotEditable */
function splicesFor(written: ParsedText, change: Change): Splices {
  const { path } = change
  let map: unknown = written.document.contents
  let pair: AnyPair | undefined
  if (map === null || (isScalar(map) && map.value === null)) {
    return addSection(written, [path[0] ?? '', nested(path.slice(1), valueIn(change))])
  }
  for (const [depth, name] of path.entries()) {
    const shown = path.slice(0, depth).join('.')
    if (isAlias(map)) throw new NotEditable(`Its \`${shown}\` is an alias: write it out.`)
    if (!isMap(map)) throw new NotEditable(`Its \`${shown}\` does not hold names.`)
    const found = pairOf(map, name)
    const rest = path.slice(depth + 1)
    if (found === undefined) {
      if (merges(map)) throw new NotEditable(mergedText(shown, name))
      const entry = [name, nested(rest, valueIn(change))] as const
      const isSection = depth === 0 && !isInBraces(map)
      return isSection ? addSection(written, entry) : addEntry(written, map, pair, entry)
    }
    if (isAlias(found.value)) {
      throw new NotEditable(`Its \`${path.slice(0, depth + 1).join('.')}\` is an alias: write it out.`)
    }
    if (rest.length > 0 && isNothing(found.value)) {
      return replaceValue(written, found, isInBraces(map), nested(rest, valueIn(change)))
    }
    if (rest.length === 0) {
      if (change.kind === 'remove') return removePair(written, map, found)
      if (change.kind === 'put') return replaceValue(written, found, isInBraces(map), change.value)
      if (!isSeq(found.value)) throw new NotEditable(`Its \`${path.join('.')}\` is no list.`)
      return addItem(written, found.value, change.value)
    }
    pair = isInBraces(map) ? undefined : found
    map = found.value
  }
  return undefined
}

function mergedText(shown: string, name: string): string {
  const where = shown === '' ? 'It' : `Its \`${shown}\``
  return `${where} merges \`<<\`, which may hold \`${name}\`: write it out.`
}

function valueIn(change: Change): unknown {
  if (change.kind === 'remove') return undefined
  return change.kind === 'append' ? [change.value] : change.value
}

function isNothing(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null)
}

function nested(path: Path, value: unknown): unknown {
  return path.reduceRight((inner: unknown, name) => ({ [name]: inner }), value)
}

/** The value that the file must have afterwards. */
function changed(before: unknown, [name, ...rest]: Path, change: Change): unknown {
  if (name === undefined) {
    if (change.kind !== 'append') return valueIn(change)
    return [...(Array.isArray(before) ? before : []), change.value]
  }
  const { [name]: inner, ...others } = isRecord(before) ? before : {}
  if (rest.length === 0 && change.kind === 'remove') return others
  return { ...others, [name]: changed(inner, rest, change) }
}

/** The text as the library prints it; undefined where the library cannot make the change either. */
function printedByLibrary({ document, value }: ParsedText, change: Change): string | undefined {
  try {
    changeIn(document, value, change)
    return document.toString({ lineWidth: 0 })
  } catch {
    return undefined
  }
}

function changeIn(document: Document, value: unknown, change: Change): void {
  const { path } = change
  if (change.kind === 'remove') {
    document.deleteIn(path)
    return
  }
  if (change.kind === 'append') {
    document.addIn(path, document.createNode(change.value))
    return
  }
  const depth = depthOf(value, path)
  const node = document.createNode(nested(path.slice(depth), change.value))
  const old = document.getIn(path.slice(0, depth), true)
  if (isNode(old) && isScalar(node) && isScalar(old)) old.value = node.value
  else document.setIn(path.slice(0, depth), node)
}

/** How many names lead to the first value that is no map, or is missing. */
function depthOf(value: unknown, [name, ...rest]: Path): number {
  if (name === undefined || !isRecord(value)) return 0
  return 1 + depthOf(value[name], rest)
}
