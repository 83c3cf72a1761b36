/** Makes one change to a configuration. The library prints the section that holds it; all other sections keep every byte. */

import { isRecord } from '@reveille/engine'
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'
import { hasValue, lostComments, NotEditable, parseText, yamlOptions } from './parsed-text.ts'

type Path = readonly string[]

export type Change =
  /** Sets a value, and creates the maps on the way to it that are missing. */
  | { readonly kind: 'put'; readonly path: Path; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: Path }
  /** Adds an item to a list that exists. */
  | { readonly kind: 'append'; readonly path: Path; readonly value: unknown }

/** The text with this change and no other, comments included. @throws NotEditable with a sentence */
export function makeChange(text: string, change: Change): string {
  const { document, value, isJson, unit } = parseText(text)
  refuseUnknown(document.contents, change)
  const after = changed(value, change.path, change)
  if (isJson) {
    const json = JSON.stringify(after, null, text.trim().includes('\n') ? unit : 0)
    return withLineEndsOf(text, `${json}\n`)
  }
  for (const { start, end } of [
    sectionOf(text, document, change.path[0] ?? ''),
    { start: 0, end: text.length },
  ]) {
    const lines = printed(text.slice(start, end), value, change, unit)
    if (lines === undefined) continue
    const head = text.slice(0, start)
    const gap = start < end || /^\s*$|\n\r?\n$/.test(head) ? '' : head.endsWith('\n') ? '\n' : '\n\n'
    const rest = text.slice(end)
    // A comment inside of what was removed goes above its section.
    const lost = lostComments(text, head + gap + lines + rest).map((comment) => `${comment}\n`)
    const whole = withLineEndsOf(text, `${head}${gap}${lost.join('')}${lines}${rest}`)
    if (hasValue(whole, after) && lostComments(text, whole).length === 0) return whole
  }
  throw new NotEditable(`Its \`${change.path.join('.')}\` cannot be changed alone: change it by hand.`)
}

/** @throws NotEditable where the way to the value does not lead through maps of its own */
function refuseUnknown(contents: unknown, { path, kind }: Change): void {
  let node = contents
  for (const [depth, name] of path.entries()) {
    const shown = path.slice(0, depth).join('.')
    if (isNothing(node)) return
    if (isAlias(node)) throw new NotEditable(`Its \`${shown}\` is an alias: write it out.`)
    if (!isMap(node)) throw new NotEditable(`Its \`${shown}\` does not hold names.`)
    const found = pairOf(node, name)
    if (found === undefined && node.items.some(({ key }) => isScalar(key) && String(key.value) === '<<')) {
      const where = shown === '' ? 'It' : `Its \`${shown}\``
      throw new NotEditable(`${where} merges \`<<\`, which may hold \`${name}\`: write it out.`)
    }
    node = found?.value
  }
  if (isAlias(node)) throw new NotEditable(`Its \`${path.join('.')}\` is an alias: write it out.`)
  if (kind === 'append' && !isSeq(node)) throw new NotEditable(`Its \`${path.join('.')}\` is no list.`)
}

function isNothing(node: unknown): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null)
}

function pairOf(map: YAMLMap, name: string): Pair<unknown, unknown> | undefined {
  return map.items.find(({ key }) => (isScalar(key) ? key.value : key) === name)
}

/** The lines of the section of this name, without the comments above the next one; else the end of the text. */
function sectionOf(text: string, { contents }: Document, name: string) {
  if (contents === null || !isMap(contents) || contents.flow) {
    const isEmpty = contents === null || isNothing(contents)
    return isEmpty ? { start: text.length, end: text.length } : { start: 0, end: text.length }
  }
  const index = contents.items.findIndex(({ key }) => isScalar(key) && key.value === name)
  if (index < 0) return { start: text.length, end: text.length }
  const starts = contents.items.slice(index, index + 2).map(({ key }) => lineStart(text, key))
  let [start = 0, end = text.length] = starts
  for (;;) {
    const from = text.lastIndexOf('\n', end - 2) + 1
    if (from <= start || !/^(?:\s*|#.*\s*)$/.test(text.slice(from, end))) return { start, end }
    end = from
  }
}

function lineStart(text: string, key: unknown): number {
  const at = isNode(key) ? (key.range?.[0] ?? 0) : 0
  return text.lastIndexOf('\n', at - 1) + 1
}

/** Undefined where the library cannot make the change, as with an alias of another section. */
function printed(section: string, value: unknown, change: Change, unit: number): string | undefined {
  const document = parseDocument(section, yamlOptions)
  try {
    changeIn(document, value, change)
    const isEmpty = isMap(document.contents) && document.contents.items.length === 0
    if (isEmpty && section.trim() !== '{}') return ''
    // Some write the items of a list below its key.
    const indentSeq = !/^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n(?: *#[^\n]*\n)*\1- /m.test(section)
    return document.toString({ lineWidth: 0, indent: unit, indentSeq })
  } catch {
    return undefined
  }
}

function withLineEndsOf(text: string, added: string): string {
  return /^[^\n]*\r\n/.test(text) ? added.replaceAll(/\r?\n/g, '\r\n') : added
}

function valueIn(change: Change): unknown {
  if (change.kind === 'remove') return undefined
  return change.kind === 'append' ? [change.value] : change.value
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
  return { ...(isRecord(before) ? before : {}), [name]: changed(inner, rest, change) }
}

function changeIn(document: Document, value: unknown, change: Change): void {
  const { path } = change
  if (change.kind === 'remove') document.deleteIn(path)
  else if (change.kind === 'append') document.addIn(path, created(document, change.value))
  else {
    const depth = depthOf(value, path)
    // A section in braces becomes lines, unless all of the file is in braces.
    const sections = isMap(document.contents) && !document.contents.flow ? path.slice(0, -1) : []
    for (const [index] of sections.entries()) {
      const map = document.getIn(path.slice(0, index + 1))
      if (!isMap(map) || !map.flow) continue
      map.flow = false
      map.commentBefore ??= map.comment ?? null
      map.comment = null
    }
    const node = created(document, nested(path.slice(depth), change.value))
    const old = document.getIn(path.slice(0, depth), true)
    if (isScalar(node) && isScalar(old)) {
      old.value = node.value
      old.type = node.type ?? 'PLAIN'
    } else document.setIn(path.slice(0, depth), node)
    if (isNode(old) && isNode(node) && !isScalar(node)) node.commentBefore = old.comment ?? null
  }
}

/** Lists of words are in brackets, and references in quotes. */
function created(document: Document, value: unknown) {
  const node = document.createNode(value)
  visit(node, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && /[$\n]/.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
    Seq(_key, list) {
      list.flow = !list.items.some(isCollection)
    },
  })
  return node
}

/** Number of names that lead to the first value that is no map, or is missing. */
function depthOf(value: unknown, [name, ...rest]: Path): number {
  if (name === undefined || !isRecord(value)) return 0
  return 1 + depthOf(value[name], rest)
}
