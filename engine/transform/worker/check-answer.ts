/** Checks what a transform returned, and makes plain data of it, which the thread can post. */

import { types } from 'node:util'
import type { Segment } from '../../boundary/segment.ts'
import { isPrompt, type Prompt } from '../define.ts'
import type { AnsweredAction, TransformAnswer } from '../port.ts'

/** Thrown if a transform's result cannot be used. The message is the rest of a sentence about the module. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
}

/** Maximum nesting of arrays and objects in a field. */
const maxDepth = 100
/** The characters around the fields, which do not count against the author's limit. */
const envelope = 64

/** @throws BadAnswer, and what a getter of the result throws */
export function checkAnswer(result: unknown, maxBytes: number): TransformAnswer {
  const answer: TransformAnswer = Array.isArray(result)
    ? { kind: 'list', actions: Array.from(result, (each, index) => actionOf(each, `element ${index} is`)) }
    : { kind: 'one', action: actionOf(result, 'it returned') }
  if (Buffer.byteLength(JSON.stringify(answer)) > maxBytes + envelope)
    throw new BadAnswer('it is longer than what the action may still render to')
  return answer
}

function actionOf(action: unknown, what: string): AnsweredAction {
  if (action === undefined || action === null) return action
  if (isPrompt(action)) throw new BadAnswer(`${what} a prompt; return { message: prompt\`…\` }`)
  if (!isPlainObject(action))
    throw new BadAnswer(`${what} ${describe(action)}, where an object, null or undefined is due`)
  return mapFields(action, (value, name) =>
    isPrompt(value) ? { prompt: segmentsOf(value, name) } : { value: plainOf(value, name, [action]) },
  )
}

function segmentsOf({ parts }: Prompt, path: string): readonly Segment[] {
  return Array.from(parts ?? [], (part) => {
    const { literal, value, path: name } = part as Readonly<Record<string, unknown>>
    if (typeof literal === 'string') return { literal }
    if (typeof value === 'string' && typeof name === 'string') return { value, path: name }
    throw new BadAnswer(`${quoted(path)} is a prompt that prompt\`…\` did not make`)
  })
}

/** @param around the containers of the value, outermost first */
function plainOf(value: unknown, path: string, around: readonly unknown[]): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (isPrompt(value) || !(Array.isArray(value) || isPlainObject(value)))
    throw new BadAnswer(`${quoted(path)} is ${describe(value)}`)
  if (around.includes(value)) throw new BadAnswer(`${quoted(path)} is a part of itself`)
  if (around.length > maxDepth)
    throw new BadAnswer(`${quoted(path)} is nested more than ${maxDepth} levels deep`)
  const inner = [...around, value]
  return Array.isArray(value)
    ? Array.from(value, (each, index) => plainOf(each, `${path}[${index}]`, inner))
    : mapFields(value, (each, name) => plainOf(each, `${path}.${name}`, inner))
}

/** A field that is undefined is absent. Each is read once. */
function mapFields<Value>(
  object: Readonly<Record<string, unknown>>,
  map: (value: unknown, name: string) => Value,
): Readonly<Record<string, Value>> {
  const present = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.map(([name, value]) => [name, map(value, name)]))
}

/** Objects of another realm are plain too. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function quoted(path: string): string {
  return `\`${path.length > 60 ? `${path.slice(0, 60)}…` : path}\``
}

/** Describes a value of a wrong type, with advice for common mistakes. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return `${value}`
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}, which JSON does not have`
  if (typeof value === 'bigint') return 'a bigint; give its text, String(value)'
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object') return `a ${typeof value}`
  if (isPrompt(value)) return 'a prompt, which only a field of the action may be'
  if (types.isDate(value)) return 'a Date; give its text, value.toISOString()'
  if (types.isPromise(value)) return 'a promise; await it'
  return `an instance of ${classNameOf(value)}, not a plain object`
}

function classNameOf(value: object): string {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'a class'
}
