/** Lists the functions of JSONata with their result types, and adds checks to some of them. */

import type jsonata from 'jsonata'
import { libraryDefinition } from './library.ts'
import { mostText, thrownLimit, tooMuchText } from './limit.ts'
import { fromMillis, toMillis } from './times.ts'

/** Maps every function to the type of its result, in the notation of signatures. Blank if the type varies. */
export const functionTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ abs: 'n', append: '', assert: '', average: 'n', base64decode: 's', base64encode: 's', boolean: 'b' },
    ...{ ceil: 'n', clone: 'o', contains: 'b', count: 'n', decodeUrl: 's', decodeUrlComponent: 's' },
    ...{
      distinct: 'x',
      each: 'a',
      encodeUrl: 's',
      encodeUrlComponent: 's',
      error: '',
      exists: 'b',
      filter: '',
    },
    ...{ floor: 'n', formatBase: 's', formatInteger: 's', formatNumber: 's', fromMillis: 's', join: 's' },
    ...{
      keys: 'a<s>',
      length: 'n',
      lookup: 'x',
      lowercase: 's',
      map: '',
      match: 'a<o>',
      max: 'n',
      merge: 'o',
    },
    ...{ millis: 'n', min: 'n', not: 'b', now: 's', number: 'n', pad: 's', parseInteger: 'n', power: 'n' },
    ...{
      random: 'n',
      reduce: 'j',
      replace: 's',
      reverse: 'a',
      round: 'n',
      shuffle: 'a',
      sift: 'o',
      single: '',
    },
    ...{
      sort: 'a',
      split: 'a<s>',
      spread: 'a<o>',
      sqrt: 'n',
      string: 's',
      substring: 's',
      substringAfter: 's',
    },
    ...{ substringBefore: 's', sum: 'n', toMillis: 'n', trim: 's', type: 's', uppercase: 's', zip: 'a' },
  }),
)

/** The `this` of a function. */
interface Focus {
  readonly environment: { lookup(name: string): unknown; timestamp?: Date }
}

// biome-ignore lint/suspicious/noExplicitAny: each function has values of its own.
type Implementation = (this: Focus, ...values: any[]) => unknown

/** The variable with the request's time. No author can use the name, because names end at a space. */
export const timeVariable = ' time'

function timeOf({ environment }: Focus): number {
  return Number(environment.lookup(timeVariable))
}

/**
 * V8's own text search takes time for each character of both texts, and nothing can interrupt it: 19 s if both come
 * from a payload of a megabyte. Up to this limit it takes a fraction of a second.
 */
const mostCompared = 2_000_000_000

function checkSearch(this: Focus, text: unknown, wanted: unknown): void {
  if (typeof text !== 'string' || typeof wanted !== 'string') return
  if (text.length * wanted.length > mostCompared) throw thrownLimit('the texts are too long to be searched')
}

/** Runs before the library's function of that name. */
const checks: Readonly<Record<string, Implementation>> = {
  contains: checkSearch,
  replace: checkSearch,
  split: checkSearch,
  substringAfter: checkSearch,
  substringBefore: checkSearch,
  pad: (_text, width) => {
    if (Math.abs(Number(width)) > mostText) throw tooMuchText()
  },
}

/** Runs in place of the library's function of that name. */
const replaced: Readonly<Record<string, Implementation>> = {
  fromMillis: likeLibrary('fromMillis', fromMillis),
  // The missing parts of a time come from the time of the request.
  toMillis: likeLibrary('toMillis', function (this: Focus, time, picture) {
    this.environment.timestamp = new Date(timeOf(this))
    return toMillis.call(this, time, picture)
  }),
  now: function (this: Focus, picture, zone) {
    return fromMillis.call(this, timeOf(this), picture, zone)
  },
  millis: function (this: Focus) {
    return timeOf(this)
  },
}

/** Created once and shared by all expressions. They are frozen, because a transform `|…|…|` may select them. */
let definitions: ReadonlyMap<string, object> | undefined

/** Replaces the library's functions that are bounded, and those that return the time of the request. */
export function registerFunctions(expression: jsonata.Expression): void {
  definitions ??= new Map([...functionTypes.keys()].map((name) => [name, defineFunction(name)]))
  for (const [name, definition] of definitions) expression.assign(name, definition)
}

function defineFunction(name: string): object {
  const definition = libraryDefinition(name)
  Object.freeze(definition.signature)
  // The library stores on a function where it was called last, which could be the place in another expression.
  const nothing = { get: () => undefined, set: () => {} }
  const own = { ...definition, implementation: replaced[name] ?? withCheck(name, definition.implementation) }
  return Object.freeze(Object.defineProperties(own, { token: nothing, position: nothing }))
}

function withCheck(name: string, own: Implementation): Implementation {
  const check = checks[name]
  if (check === undefined) return own
  return likeLibrary(name, function (...values) {
    check.apply(this, values)
    return own.apply(this, values)
  })
}

/** Gives a replacement what the library reads of a function itself. */
function likeLibrary(name: string, replacement: Implementation): Implementation {
  const own = libraryDefinition(name).implementation
  // `$map` passes as many values as a function has parameters.
  Object.defineProperty(replacement, 'length', { value: own.length })
  // For a partial call such as `$split(?, ",")` the library reads the parameters from the function's text.
  replacement.toString = () => own.toString()
  return replacement
}
