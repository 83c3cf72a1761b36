/** Does what the library does with values: hidden marks on lists, lookup of names, truth, equality and text. */

/** A list that the library made. If it has at most one element, it stands for that element or for nothing. */
export interface Sequence extends Array<unknown> {
  sequence?: true
  /** Whether the list stays one even with a single element. */
  keepSingleton?: true
  /** Whether the list wraps a payload that is a list, so that it counts as one value. */
  outerWrapper?: true
  /** Whether the list is a literal, which is not flattened into the list around it. */
  cons?: true
}

/** Thrown if a payload makes the library do what the core does not support. The library then evaluates the expression. */
export class BeyondCoreError extends Error {
  override readonly name = 'BeyondCoreError'
}

/** Adds the place to an error of the library. JavaScript's errors and our own stay as they are. */
export function locateFault(fault: unknown, position: unknown, token: unknown): unknown {
  return fault instanceof Error ? fault : { position, token, ...(fault as object) }
}

export function createSequence(...elements: readonly unknown[]): Sequence {
  const sequence: Sequence = [...elements]
  sequence.sequence = true
  return sequence
}

/** Returns the result of a node that made a list. */
export function unwrapSequence(value: unknown, keepArray: boolean): unknown {
  if (!Array.isArray(value)) return value
  const sequence: Sequence = value
  if (sequence.sequence !== true) return value
  if (keepArray) sequence.keepSingleton = true
  if (sequence.length === 1 && sequence.keepSingleton !== true) return sequence[0]
  return sequence.length === 0 ? undefined : sequence
}

/** Returns the field of an object, or a sequence of that field of each object in a list. */
export function lookUp(input: unknown, name: string): unknown {
  if (typeof input !== 'object' || input === null) return undefined
  if (!Array.isArray(input)) return fieldOf(input, name)
  const found = createSequence()
  collect(input, name, found)
  return found
}

export function fieldOf(input: object, name: string): unknown {
  const value = (input as Readonly<Record<string, unknown>>)[name]
  // No value of JSON is a function, and all else that objects inherit is.
  const mayBeInherited = typeof value === 'function' || name === '__proto__'
  return mayBeInherited && !Object.hasOwn(input, name) ? undefined : value
}

function collect(list: readonly unknown[], name: string, found: Sequence): void {
  for (const element of list) {
    if (typeof element !== 'object' || element === null) continue
    if (Array.isArray(element)) {
      collect(element, name, found)
      continue
    }
    const value = fieldOf(element, name)
    if (Array.isArray(value)) for (const each of value) found.push(each)
    else if (value !== undefined) found.push(value)
  }
}

/** Throws for a number in JSON that is too large for a number, such as `1e400`. */
export function isNumeric(value: unknown): value is number {
  if (typeof value !== 'number' || Number.isNaN(value)) return false
  if (!Number.isFinite(value)) throw { code: 'D1001', value }
  return true
}

export function isTrue(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') return value !== ''
  if (typeof value === 'number') return isNumeric(value) && value !== 0
  if (typeof value !== 'object' || value === null) return false
  if (!Array.isArray(value)) return Object.keys(value).length > 0
  let isAnyTrue = false
  // The library reads every element, and fails at each number that is too large.
  for (const element of value) if (isTrue(element)) isAnyTrue = true
  return isAnyTrue
}

export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return false
    return left.every((element, index) => isEqual(element, right[index]))
  }
  const names = Object.getOwnPropertyNames(left)
  const others = Object.getOwnPropertyNames(right)
  if (names.length !== others.length) return false
  // The library also compares lists with objects, by their property names.
  return names.every(
    (name) =>
      Object.hasOwn(right, name) &&
      isEqual((left as Record<string, unknown>)[name], (right as Record<string, unknown>)[name]),
  )
}

/** Writes a value as `$string` and `&` do. */
export function writeText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw { code: 'D3001', value }
    return writeNumber(value)
  }
  if (typeof value === 'object' && value !== null)
    throw new BeyondCoreError('a list or an object is written as text')
  return String(value)
}

/** Writes 15 digits of a fraction. A shorter one, with its point, is read back as the same number. */
function writeNumber(value: number): string {
  const text = String(value)
  return text.length > 16 && !Number.isInteger(value) ? String(Number(value.toPrecision(15))) : text
}
