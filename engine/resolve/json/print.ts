/**
 * Owns printing large values as JSON, in turns. The platform's printer does it at once, and looks at each level for
 * all those above it: a megabyte of lists a thousand levels deep takes it half a second.
 */

import { takeTurn } from '../../turn.ts'

/** A value of so many parts is printed by the platform, however they nest. */
const fewParts = 8
/** Parts of a list that are printed together, if they are few each. */
const batch = 512
/** Above, a value is printed in turns. */
const manyParts = 2000
/** Escaping a text of so many takes as long as a part does. */
const charactersOfPart = 32
/** Parts between two looks at the clock. */
const stride = 2000

export function isLarge(value: unknown): boolean {
  return countParts(value, manyParts) > manyParts
}

/** A container whose members are being printed. */
interface Level {
  readonly value: Readonly<Record<string | number, unknown>>
  readonly length: number
  /** Nothing for a list. */
  readonly names: readonly string[] | undefined
  next: number
}

/**
 * As `JSON.stringify(value, undefined, indent)`.
 * @throws whatever `spend` throws, which is told how many characters are made
 */
export async function printInTurns(
  value: unknown,
  indent: number,
  spend: (characters: number) => void,
): Promise<string> {
  const pieces: string[] = []
  const levels: Level[] = []
  let parts = 0

  function add(piece: string): void {
    spend(piece.length)
    pieces.push(piece)
  }

  function newLine(depth: number): string {
    return indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`
  }

  function addSmall(member: unknown): void {
    const json = JSON.stringify(member, undefined, indent) ?? 'null'
    add(indent === 0 ? json : json.replaceAll('\n', newLine(levels.length)))
  }

  function open(container: object): void {
    const names = Array.isArray(container) ? undefined : Object.keys(container)
    const length = names?.length ?? (container as readonly unknown[]).length
    levels.push({ value: container as Level['value'], length, names, next: 0 })
    add(names === undefined ? '[' : '{')
  }

  function addMember({ value: container, names, next }: Level): void {
    const name = names?.[next]
    const member = container[name ?? next]
    const comma = next === 0 ? '' : ','
    const key = name === undefined ? '' : `${JSON.stringify(name)}:${indent === 0 ? '' : ' '}`
    const count = countParts(member, fewParts)
    parts += count
    add(comma + newLine(levels.length) + key)
    write(member, count)
  }

  function write(written: unknown, count: number): void {
    if (count > fewParts && typeof written === 'object' && written !== null) open(written)
    else addSmall(written)
  }

  /** Elements of a list that are small each; how many. */
  function addBatch({ value: list, next, length }: Level): number {
    let end = next
    for (let count = 0; end < length && count < batch; end++) {
      const own = countParts(list[end], fewParts)
      if (own > fewParts) break
      count += own
      parts += own
    }
    if (end - next < 2) return 0
    const json = JSON.stringify((list as unknown as readonly unknown[]).slice(next, end))
    add((next === 0 ? '' : ',') + json.slice(1, -1))
    return end - next
  }

  write(value, Number.POSITIVE_INFINITY)
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (level.next >= level.length) {
      levels.pop()
      add((level.length === 0 ? '' : newLine(levels.length)) + (level.names === undefined ? ']' : '}'))
      continue
    }
    const printed = level.names === undefined && indent === 0 ? addBatch(level) : 0
    if (printed === 0) addMember(level)
    level.next += printed || 1
    if (parts < stride) continue
    parts = 0
    const turn = takeTurn()
    if (turn !== undefined) await turn
  }
  return pieces.join('')
}

/** Of a value and all in it; a long text has many. Stops counting above `most`. */
function countParts(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / charactersOfPart
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  const waiting: object[] = [value]
  for (let next = waiting.pop(); next !== undefined && count <= most; next = waiting.pop()) {
    const names = Array.isArray(next) ? undefined : Object.keys(next)
    const length = names?.length ?? (next as readonly unknown[]).length
    count += length
    if (count > most) return count
    for (let index = 0; index < length; index++) {
      const member = (next as Level['value'])[names?.[index] ?? index]
      if (typeof member === 'string') count += member.length / charactersOfPart
      else if (typeof member === 'object' && member !== null) waiting.push(member)
    }
  }
  return count
}
