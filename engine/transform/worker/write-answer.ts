/** Writes what a transform returned as JSON that the main thread can read in one pass. */

import { types } from 'node:util'
import { isPrompt, type Prompt } from '../define.ts'

/** Thrown if a transform's result cannot be used. The message is the rest of a sentence about the module. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
}

// A module may have replaced globals, and `toJSON` of every object, so containers are written here.
const { stringify } = JSON
const { isArray } = Array
const { keys, getPrototypeOf } = Object
const { isFinite: isFiniteNumber } = Number
const { byteLength } = Buffer

/** Maximum nesting of arrays and objects in a field. */
const maxDepth = 100

/** Stands for undefined, which JSON lacks. */
const kept = '0'

interface Meter {
  /** The characters that may still be written; each takes at least a byte. */
  left: number
}

/** @throws BadAnswer, and what a getter of the result throws */
export function writeAnswer(result: unknown, maxBytes: number): string {
  const meter: Meter = { left: maxBytes }
  const answer = isArray(result)
    ? `{"kind":"list","actions":[${writeEach(result, meter, (action, index) => writeAction(action, `element ${index} is`, meter))}]}`
    : `{"kind":"one","action":${writeAction(result, 'it returned', meter)}}`
  if (byteLength(answer) > maxBytes + envelope) throw tooLong()
  return answer
}

/** The characters around the fields, which do not count against the author's limit. */
const envelope = 64

function writeAction(action: unknown, what: string, meter: Meter): string {
  if (action === undefined) return spend(meter, kept)
  if (action === null) return spend(meter, 'null')
  if (isPrompt(action)) throw bad(`${what} a prompt; return { message: prompt\`…\` }`)
  if (!isPlainObject(action))
    throw bad(`${what} ${describe(action)}, where an object, null or undefined is due`)
  return writeFields(action, meter, (value, name) => {
    if (isPrompt(value)) return `{"prompt":${writePrompt(value, name, meter)}}`
    return `{"value":${writeValue(value, name, { value: action, depth: 0 }, meter)}}`
  })
}

function writePrompt({ parts }: Prompt, path: string, meter: Meter): string {
  const isText = (value: unknown): value is string => typeof value === 'string'
  if (!isArray(parts)) throw bad(`${quoted(path)} is a prompt without parts`)
  return `[${writeEach(parts, meter, ({ literal, value, path: name }: Record<string, unknown>) => {
    if (isText(literal)) return `{"literal":${writeText(literal, meter)}}`
    if (!isText(value) || !isText(name))
      throw bad(`${quoted(path)} is a prompt that prompt\`…\` did not make`)
    return `{"value":${writeText(value, meter)},"path":${writeText(name, meter)}}`
  })}]`
}

/** A container and the one around it. It is no list, because a module may have removed iteration from lists. */
interface Around {
  readonly value: unknown
  readonly depth: number
  readonly outer?: Around
}

function writeValue(value: unknown, path: string, outer: Around, meter: Meter): string {
  if (typeof value === 'string') return writeText(value, meter)
  if (value === null || typeof value === 'boolean') return spend(meter, `${value}`)
  if (typeof value === 'number' && isFiniteNumber(value)) return spend(meter, stringify(value))
  const list = isArray(value)
  if (isPrompt(value) || (!list && !isPlainObject(value))) throw bad(`${quoted(path)} is ${describe(value)}`)
  for (let each: Around | undefined = outer; each; each = each.outer) {
    if (each.value === value) throw bad(`${quoted(path)} is a part of itself`)
  }
  if (outer.depth === maxDepth) throw bad(`${quoted(path)} is nested more than ${maxDepth} levels deep`)
  const inner: Around = { value, depth: outer.depth + 1, outer }
  if (list)
    return `[${writeEach(value, meter, (each, index) => writeValue(each, `${path}[${index}]`, inner, meter))}]`
  return writeFields(value, meter, (each, name) => writeValue(each, `${path}.${name}`, inner, meter))
}

/** A field that is undefined is absent. */
function writeFields(
  object: Readonly<Record<string, unknown>>,
  meter: Meter,
  write: (value: unknown, name: string) => string,
): string {
  let text = ''
  const names = keys(object)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const value = object[name]
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${writeText(name, meter)}:${write(value, name)}`
  }
  return spend(meter, `{${text}}`, 2)
}

function writeEach<Element>(
  list: readonly Element[],
  meter: Meter,
  write: (element: Element, index: number) => string,
): string {
  let text = ''
  const { length } = list
  for (let index = 0; index < length; index++) {
    text += `${index === 0 ? '' : ','}${write(list[index] as Element, index)}`
    spend(meter, '', 1)
  }
  return text
}

function writeText(text: string, meter: Meter): string {
  spend(meter, '', text.length)
  return stringify(text)
}

function spend(meter: Meter, text: string, length = text.length): string {
  meter.left -= length
  if (meter.left < 0) throw tooLong()
  return text
}

function tooLong(): BadAnswer {
  return bad('it is longer than what the action may still render to')
}

function bad(problem: string): BadAnswer {
  return new BadAnswer(problem)
}

/** Objects of another realm are plain too. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || isArray(value)) return false
  const prototype = getPrototypeOf(value)
  return prototype === null || getPrototypeOf(prototype) === null
}

function quoted(path: string): string {
  return `\`${path.length > 60 ? `${path.slice(0, 60)}…` : path}\``
}

/** Describes a value of a wrong type, with advice for common mistakes. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return `${value}`
  if (typeof value === 'number' && !isFiniteNumber(value)) return `${value}, which JSON does not have`
  if (typeof value === 'bigint') return 'a bigint; give its text, String(value)'
  if (isArray(value)) return 'a list'
  if (typeof value !== 'object') return `a ${typeof value}`
  if (isPrompt(value)) return 'a prompt, which only a field of the action may be'
  if (types.isDate(value)) return 'a Date; give its text, value.toISOString()'
  if (types.isPromise(value)) return 'a promise; await it'
  return `an instance of ${classNameOf(value)}, not a plain object`
}

function classNameOf(value: object): string {
  const name: unknown = getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'a class'
}
