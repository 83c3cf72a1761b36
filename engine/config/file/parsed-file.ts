/** Holds a parsed file: its value, and the place of each part in its text. */

import type { Path } from '../values/path.ts'
import type { Place } from './diagnostic.ts'
import { numbersPerNode, type SoundText } from './parse-text.ts'
import { placeAt, positionAt } from './places.ts'

/** A value of the file, and the index of its numbers in `nodes`. */
interface Located {
  readonly node: number
  readonly value: unknown
}

export class ParsedFile {
  /** The path relative to the configuration's folder, with `/`; for a preset `preset <name>`. */
  readonly name: string
  /** The absolute path. */
  readonly file: string
  /** The parsed value, not checked yet. `null` for a file without content. */
  readonly value: unknown
  readonly #sound: SoundText
  /** The children of the lists and maps that were walked into, by index or key. */
  readonly #children = new Map<number, ReadonlyMap<string | number, number>>()

  constructor(name: string, sound: SoundText) {
    this.name = name
    this.file = sound.file
    this.value = sound.value
    this.#sound = sound
  }

  /** Returns the place of the value at `path`, or of its key, or of the nearest existing value above it. */
  place(path: Path, at?: 'key' | 'value'): Place {
    return placeAt(this.#sound, this.#offsetOf(this.#find(path), at))
  }

  /** Returns `name:line:column` of {@link place}, which is found faster than the text of the line. */
  label(path: Path, at?: 'key' | 'value'): string {
    const { line, column } = positionAt(this.#sound, this.#offsetOf(this.#find(path), at))
    return `${this.name}:${line}:${column}`
  }

  /** Returns the place of a character of the text at `path`; `offset` counts from 0 in UTF-16 units. */
  placeInText(path: Path, offset?: number): Place {
    const found = this.#find(path)
    const { targetStart, targetEnd } = this.#rangesOf(found.node)
    if (offset === undefined || typeof found.value === 'object' || targetStart < 0)
      return placeAt(this.#sound, this.#offsetOf(found))
    const raw = this.#sound.text.slice(targetStart, targetEnd)
    return placeAt(this.#sound, targetStart + offsetInRaw(raw, String(found.value), offset))
  }

  /** True if the text at `path` is in single quotes between brackets or braces, so that it is JSON5 rather than YAML. */
  isSingleQuoted(path: Path): boolean {
    const first = (at: Path) => this.#sound.text[this.#rangesOf(this.#find(at).node).targetStart]
    return first(path) === "'" && /^[[{]$/.test(first(path.slice(0, -1)) ?? '')
  }

  /** Returns the number at `path` as written, because its value may lack digits or zeros. */
  writtenNumber(path: Path): string | undefined {
    const { node, value } = this.#find(path)
    const { targetStart, targetEnd } = this.#rangesOf(node)
    return typeof value === 'number'
      ? this.#sound.text.slice(targetStart, targetEnd).replace('+', '')
      : undefined
  }

  /**
   * Returns the places of strings below `path` that end because YAML took ` #` in front of a placeholder for the start of
   * a comment.
   */
  templatesInComments(path: Path): Place[] {
    const { start, targetStart, targetEnd } = this.#rangesOf(this.#find(path).node)
    // A value behind an alias is reported at its anchor.
    const end = start === targetStart ? targetEnd : -1
    return this.#sound.templatesInComments
      .filter((offset) => start <= offset && offset <= end)
      .map((offset) => placeAt(this.#sound, offset))
  }

  /** The numbers of a value, as {@link SoundText.nodes} has them. */
  #rangesOf(node: number) {
    const [keyStart = -1, start = -1, targetStart = -1, targetEnd = -1, after = -1] =
      this.#sound.nodes.subarray(node, node + numbersPerNode)
    return { keyStart, start, targetStart, targetEnd, after }
  }

  #offsetOf({ node }: Located, at: 'key' | 'value' = 'value'): number {
    const { keyStart, start } = this.#rangesOf(node)
    const [first, second] = at === 'key' ? [keyStart, start] : [start, keyStart]
    return Math.max(0, first < 0 ? second : first)
  }

  /** Returns the value at the path, or the deepest one on the way to it. */
  #find(path: Path): Located {
    let found: Located = { node: 0, value: this.value }
    for (const segment of path) {
      const { node, value } = found
      if (typeof value !== 'object' || value === null) return found
      const key = Array.isArray(value) ? Number(segment) : String(segment)
      const next = this.#childrenOf(node, value).get(key)
      if (next === undefined) return found
      found = { node: next, value: (value as Readonly<Record<string, unknown>>)[key] }
    }
    return found
  }

  #childrenOf(node: number, value: object): ReadonlyMap<string | number, number> {
    const cached = this.#children.get(node)
    if (cached) return cached
    const found = new Map<string | number, number>()
    let child = node + numbersPerNode
    for (const segment of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      found.set(segment, child)
      child = this.#rangesOf(child).after
    }
    this.#children.set(node, found)
    return found
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
