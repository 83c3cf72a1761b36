/** Checks the shape of what a plugin brings once, at its setup, because a wrong shape would fail in the middle of a reply. */

import { isRecord } from '@reveille/engine'
import type { ProvidedKind } from '../configuration/package.ts'

type Rule = readonly [path: string, rule: string, holds: (value: unknown) => boolean]

const aFunction = 'a function'
const isFunction = (value: unknown) => typeof value === 'function'
const isWhole = (value: unknown) => Number.isInteger(value) && (value as number) > 0
const isPositive = (value: unknown) => typeof value === 'number' && value > 0
const optional = (holds: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || holds(value)
const units: readonly unknown[] = ['utf16', 'utf8', 'characters']

function pace(path: string): readonly Rule[] {
  return [
    [path, 'an object with `count` and `ms`', optional(isRecord)],
    [`${path}.count`, 'a whole number above 0', isWhole],
    [`${path}.ms`, 'a number of milliseconds above 0', isPositive],
  ]
}

/** The rules of an object apply only if the object is there. */
const rules: Readonly<Record<ProvidedKind, readonly Rule[]>> = {
  channel: [
    ['limits', 'an object', isRecord],
    ['limits.part', 'a whole number above 0', isWhole],
    ['limits.unit', "'utf16', 'utf8' (bytes) or 'characters'", (value) => units.includes(value)],
    ['limits.parts', 'a whole number above 0', optional(isWhole)],
    ...pace('limits.perTarget'),
    ...pace('limits.overall'),
    ['limits.sendTimeoutMs', 'a number of milliseconds above 0', optional(isPositive)],
    ['idempotency', 'an object with `windowMs`', optional(isRecord)],
    ['idempotency.windowMs', 'a number of milliseconds above 0', isPositive],
    ['defaultTo', 'a text', optional((value) => typeof value === 'string')],
    ['target', aFunction, isFunction],
    ['render', aFunction, isFunction],
    ['send', aFunction, isFunction],
    ['check', aFunction, optional(isFunction)],
  ],
  runner: [
    ['run', aFunction, isFunction],
    ['keepsHistory', 'true or false', optional((value) => typeof value === 'boolean')],
    ['countsTokens', 'true or false', optional((value) => typeof value === 'boolean')],
    ['checkModel', aFunction, optional(isFunction)],
  ],
  source: [['run', aFunction, isFunction]],
  observer: [['observe', aFunction, isFunction]],
  provider: [
    ['title', 'a text', (value) => typeof value === 'string'],
    ['missedSince', aFunction, isFunction],
  ],
}

/** Returns what is wrong with the shape, to follow "of the plugin's channel ntfy,", or undefined. */
export function shapeProblem(provided: object, kind: ProvidedKind): string | undefined {
  for (const [path, rule, holds] of rules[kind]) {
    const parent = path.includes('.') ? valueAt(provided, path.slice(0, path.lastIndexOf('.'))) : provided
    if (parent === undefined) continue
    const value = valueAt(provided, path)
    if (!holds(value)) return `\`${path}\` has to be ${rule} and is ${describe(value)}`
  }
  return undefined
}

function valueAt(provided: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], provided)
}

/** Only numbers and short words are quoted, which is enough to see the mistake. */
function describe(value: unknown): string {
  if (value === undefined) return 'not there'
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'string') return /^[\w.-]{1,20}$/.test(value) ? `'${value}'` : 'another text'
  return typeof value === 'function' ? aFunction : Array.isArray(value) ? 'a list' : 'an object'
}
