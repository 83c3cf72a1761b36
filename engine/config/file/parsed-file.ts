/** Holds a parsed file: its value, and the place of each part in its text. */

import type { Path } from '../values/path.ts'
import type { Place } from './diagnostic.ts'
import { numbersPerNode, type SoundText } from './parse-text.ts'
import { placeAt, positionAt } from './places.ts'

export interface ParsedFile {
  /** The absolute path. */
  readonly file: string
  /** The path relative to the configuration's folder, with `/`; for a preset `preset <name>`. */
  readonly name: string
  /** The parsed value, not checked yet. `null` for a file without content. */
  readonly value: unknown
  /** Returns the place of the value at `path`, or of its key, or of the nearest existing value above it. */
  place(path: Path, at?: 'key' | 'value'): Place
  /** Returns the line and column of {@link place}, which are found faster than the text of the line. */
  position(path: Path): Pick<Place, 'line' | 'column'>
  /** Returns the place of a character of the text at `path`; `offset` counts from 0 in UTF-16 units. */
  placeInText(path: Path, offset?: number): Place
  /** Whether the text at `path` is in single quotes between brackets or braces, so that it is JSON5 rather than YAML. */
  isSingleQuoted(path: Path): boolean
  /** Returns the number at `path` as written, because its value may lack digits or zeros. */
  writtenNumber(path: Path): string | undefined
  /**
   * Returns the places of strings below `path` that end because YAML took ` #` in front of a placeholder for the start of
   * a comment.
   */
  templatesInComments(path: Path): Place[]
}

/** A value of the file, and the index of its numbers. */
interface Located {
  readonly node: number
  readonly value: unknown
}

export function createParsedFile(name: string, sound: SoundText): ParsedFile {
  const { file, value, nodes, text } = sound
  const root: Located = { node: 0, value }
  /** The children of the lists and maps that were walked into, by index or key. */
  const children = new Map<number, ReadonlyMap<string | number, number>>()

  const read = (node: number, field: number) => nodes[node + field] ?? -1
  const keyStart = (node: number) => read(node, 0)
  const start = (node: number) => read(node, 1)
  const targetStart = (node: number) => read(node, 2)
  const targetEnd = (node: number) => read(node, 3)
  const after = (node: number) => read(node, 4)

  function childrenOf({ node, value }: Located): ReadonlyMap<string | number, number> {
    const known = children.get(node)
    if (known) return known
    const found = new Map<string | number, number>()
    let child = node + numbersPerNode
    for (const segment of Array.isArray(value) ? value.keys() : Object.keys(value ?? {})) {
      found.set(segment, child)
      child = after(child)
    }
    children.set(node, found)
    return found
  }

  /** Returns the value at the path, or the deepest one on the way to it. */
  function find(path: Path): Located {
    let found = root
    for (const segment of path) {
      const next = step(found, segment)
      if (!next) return found
      found = next
    }
    return found
  }

  function step(holder: Located, segment: string | number): Located | undefined {
    const { value } = holder
    if (typeof value !== 'object' || value === null) return undefined
    const key = Array.isArray(value) ? Number(segment) : String(segment)
    const node = childrenOf(holder).get(key)
    return node === undefined ? undefined : { node, value: (value as Readonly<Record<string, unknown>>)[key] }
  }

  function offsetOf({ node }: Located, at: 'key' | 'value' = 'value'): number {
    const [first, second] = at === 'key' ? [keyStart(node), start(node)] : [start(node), keyStart(node)]
    return Math.max(0, first < 0 ? second : first)
  }

  return {
    file,
    name,
    value,
    place: (path, at) => placeAt(sound, offsetOf(find(path), at)),
    position: (path) => positionAt(sound, offsetOf(find(path))),
    placeInText(path, offset) {
      const found = find(path)
      const from = targetStart(found.node)
      if (offset === undefined || typeof found.value === 'object' || from < 0)
        return placeAt(sound, offsetOf(found))
      const raw = text.slice(from, targetEnd(found.node))
      return placeAt(sound, from + offsetInRaw(raw, String(found.value), offset))
    },
    isSingleQuoted(path) {
      const holder = text[targetStart(find(path.slice(0, -1)).node)] ?? ''
      return text[targetStart(find(path).node)] === "'" && (holder === '{' || holder === '[')
    },
    writtenNumber(path) {
      const { node, value } = find(path)
      return typeof value === 'number'
        ? text.slice(targetStart(node), targetEnd(node)).replace('+', '')
        : undefined
    },
    templatesInComments(path) {
      const { node } = find(path)
      // A value behind an alias is reported at its anchor.
      const end = start(node) === targetStart(node) ? targetEnd(node) : -1
      return sound.templatesInComments
        .filter((offset) => start(node) <= offset && offset <= end)
        .map((offset) => placeAt(sound, offset))
    },
  }
}

/**
 * `raw` is a scalar as written, with its quotes or block header, and `value` its meaning. Returns an offset into `raw`.
 * It is exact for plain, folded, literal and quoted text; for an escape such as `\\u0041` it is that of the last
 * character that could be followed.
 */
export function offsetInRaw(raw: string, value: string, wanted: number): number {
  const style = raw[0]
  let next = 0
  if (style === '"' || style === "'") next = 1
  else if (style === '|' || style === '>') next = raw.indexOf('\n') + 1
  let found = next
  for (let index = 0; index <= wanted; index++) {
    const character = value[index]
    if (character === undefined) return next
    if (/\s/.test(character)) {
      found = next
      if (style === '"' && raw[next] === '\\') next += 2
      else if (raw[next] === character || raw[next] === '\n' || raw[next] === '\r') next++
      continue
    }
    while (/\s/.test(raw[next] ?? '')) next++
    if (style === '"' && raw[next] === '\\') next++
    if (raw[next] !== character) return found
    found = next
    next += style === "'" && character === "'" ? 2 : 1
  }
  return found
}
