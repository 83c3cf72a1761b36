/**
 * Owns cutting a text, before any of it is parsed, into stretches that mean the same alone as in their file.
 *
 * Only block style is cut, between lines that begin a key of a cut map or an item of a cut list. YAML ends whatever is
 * open (text of several lines, brackets) before a line that is indented no further than what holds it, or calls it an
 * error; so a stretch that is sound by itself neither reaches into the next one nor is continued by it. A text that is
 * written in any other way is not cut, and whoever finds anchors in a stretch takes the text whole after all.
 */

import type { Path } from '../path.ts'
import { type Lines, linesAtOnce } from './lines.ts'

/** Lines of the text that are parsed together: one pair of a map, or one item of a list. */
export interface Stretch {
  readonly kind: 'stretch'
  readonly start: number
  readonly end: number
  /** Of a pair; an item has none. */
  readonly key?: string
}

export interface CutList<Leaf> {
  readonly kind: 'list'
  /** Where its key stands, and where its first item does. */
  readonly keyOffset: number
  readonly offset: number
  readonly items: readonly Leaf[]
}

export interface CutMap<Leaf> {
  readonly kind: 'map'
  /** Absent: it is the file's own. */
  readonly keyOffset?: number
  /** Where its first key stands. */
  readonly offset: number
  readonly parts: ReadonlyMap<string, Part<Leaf>>
}

export type Part<Leaf> = Leaf | CutList<Leaf> | CutMap<Leaf>

/** `lists`: paths of the lists whose items become stretches. Nothing for a text that cannot be cut. */
export function* cutText(
  text: string,
  lines: Lines,
  lists: readonly Path[],
): Generator<void, CutMap<Stretch> | undefined> {
  if (lines.hasTabs || hasOddCharacters(text)) return undefined
  const { starts, indents } = lines
  return yield* cutMap(0, starts.length, 0, [])

  function* cutMap(
    from: number,
    to: number,
    indent: number,
    path: Path,
  ): Generator<void, CutMap<Stretch> | undefined> {
    const parts = new Map<string, Part<Stretch>>()
    let open: { key: string; line: number } | undefined
    let offset: number | undefined
    for (let line = from; line < to; line++) {
      if (line % linesAtOnce === 0) yield
      const found = indentOf(line)
      if (found < 0) continue
      if (found < indent || (found > indent && !open)) return undefined
      if (found > indent) continue
      const key = keyAt(line)
      if (key === undefined) {
        // A list may stand as far left as its key, and so may the bracket that closes one.
        if (open && (isItem(line) || /[\]}]/.test(charAt(line)))) continue
        return undefined
      }
      offset ??= startOf(line) + indent
      if (open) parts.set(open.key, yield* cutPair(open.key, open.line, line, path))
      if (parts.has(key)) return undefined
      open = { key, line }
    }
    if (!open || offset === undefined) return undefined
    parts.set(open.key, yield* cutPair(open.key, open.line, to, path))
    return { kind: 'map', offset, parts }
  }

  function* cutPair(key: string, from: number, to: number, path: Path): Generator<void, Part<Stretch>> {
    const own = [...path, key]
    const whole: Stretch = { kind: 'stretch', start: startOf(from), end: startOf(to), key }
    const relevant = lists.filter((list) => own.every((segment, index) => list[index] === segment))
    if (relevant.length === 0 || !isBareHead(from, key)) return whole
    let first = from + 1
    while (first < to && indentOf(first) < 0) first++
    if (first === to) return whole
    const keyOffset = startOf(from) + indentOf(from)
    if (relevant.some((list) => list.length === own.length))
      return (yield* cutList(first, to, indentOf(from), keyOffset)) ?? whole
    if (indentOf(first) <= indentOf(from)) return whole
    const map = yield* cutMap(first, to, indentOf(first), own)
    return map ? { ...map, keyOffset } : whole
  }

  function* cutList(
    from: number,
    to: number,
    least: number,
    keyOffset: number,
  ): Generator<void, CutList<Stretch> | undefined> {
    const indent = indentOf(from)
    if (indent < least || !isItem(from)) return undefined
    const items: Stretch[] = []
    let begun = from
    for (let line = from + 1; line < to; line++) {
      if (line % linesAtOnce === 0) yield
      const found = indentOf(line)
      if (found < 0 || found > indent || (found === indent && /[\]}]/.test(charAt(line)))) continue
      if (found < indent || !isItem(line)) return undefined
      items.push({ kind: 'stretch', start: startOf(begun), end: startOf(line) })
      begun = line
    }
    items.push({ kind: 'stretch', start: startOf(begun), end: startOf(to) })
    return { kind: 'list', keyOffset, offset: startOf(from) + indent, items }
  }

  function startOf(line: number): number {
    return starts[line] ?? text.length
  }

  function indentOf(line: number): number {
    return indents[line] ?? -1
  }

  function charAt(line: number): string {
    return text[startOf(line) + indentOf(line)] ?? ''
  }

  function isItem(line: number): boolean {
    if (charAt(line) !== '-') return false
    const next = text[startOf(line) + indentOf(line) + 1]
    return next === undefined || next === ' ' || next === '\n' || next === '\r'
  }

  function keyAt(line: number): string | undefined {
    plainKey.lastIndex = startOf(line) + indentOf(line)
    const key = plainKey.exec(text)?.[1]
    return key === '__proto__' ? undefined : key
  }

  /** Whether nothing but a comment follows the key on its line. */
  function isBareHead(line: number, key: string): boolean {
    bareRest.lastIndex = startOf(line) + indentOf(line) + key.length + 1
    return bareRest.test(text)
  }
}

const plainKey = /([A-Za-z_$][\w$-]*):(?=[ \r\n]|$)/y
const bareRest = / *(?:(?<= )#[^\n]*)?(?:\r?\n|$)/y

/** What the parser takes for a sign of its own, and line breaks that are only half of one. */
function hasOddCharacters(text: string): boolean {
  if (['\x02', '\x18', '\x1f', '\ufeff'].some((odd) => text.includes(odd))) return true
  return text.includes('\r') && /\r(?!\n)/.test(text)
}
