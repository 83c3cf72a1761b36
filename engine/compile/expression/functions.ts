/** The functions of the language: what each gives, and what is looked at before a few of them run. */

import type jsonata from 'jsonata'
import { libraryDefinition } from './library.ts'
import { mostText, thrownLimit, tooMuchText } from './limit.ts'

/** Every function, with the type of what it gives as signatures write it; blank where that varies. */
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

/** `this` of a function. */
interface Focus {
  readonly environment: { lookup(name: string): unknown; timestamp?: Date }
}

// biome-ignore lint/suspicious/noExplicitAny: each function has values of its own.
type Implementation = (this: Focus, ...values: any[]) => unknown

/** The variable that holds the request's time. None of an author's is called that: their names end at a space. */
export const timeVariable = ' time'

function timeOf({ environment }: Focus): number {
  return Number(environment.lookup(timeVariable))
}

/**
 * V8's own search for a text takes time for each character of both, and nothing can end it: 19 s where both came from a
 * payload of a megabyte. So much takes a fraction of a second.
 */
const mostCompared = 2_000_000_000

function checkSearch(this: Focus, text: unknown, wanted: unknown): void {
  if (typeof text !== 'string' || typeof wanted !== 'string') return
  if (text.length * wanted.length > mostCompared) throw thrownLimit('the texts are too long to be searched')
}

/** What runs before the library's function of that name. */
const checks: Readonly<Record<string, Implementation>> = {
  contains: checkSearch,
  replace: checkSearch,
  split: checkSearch,
  substringAfter: checkSearch,
  substringBefore: checkSearch,
  pad: (_text, width) => {
    if (Math.abs(Number(width)) > mostText) throw tooMuchText()
  },
  // What a text does not say of a time is read from the time of the request.
  toMillis: function (this: Focus) {
    this.environment.timestamp = new Date(timeOf(this))
  },
}

/** What runs in place of the library's function. */
const replaced: Readonly<Record<string, Implementation>> = {
  now: function (this: Focus, picture, zone) {
    return libraryDefinition('fromMillis').implementation.call(this, timeOf(this), picture, zone)
  },
  millis: function (this: Focus) {
    return timeOf(this)
  },
}

/** Made once, and shared by all expressions: nothing can be written into them, whatever a transform `|…|…|` selects. */
let definitions: ReadonlyMap<string, object> | undefined

/** Puts the functions that are bounded, and those that tell the time of the request, in place of the library's. */
export function registerFunctions(expression: jsonata.Expression): void {
  definitions ??= new Map([...functionTypes.keys()].map((name) => [name, defineFunction(name)]))
  for (const [name, definition] of definitions) expression.assign(name, definition)
}

function defineFunction(name: string): object {
  const definition = libraryDefinition(name)
  Object.freeze(definition.signature)
  // The library notes on a function where it was called last, which would be the place of another expression.
  const nothing = { get: () => undefined, set: () => {} }
  const own = { ...definition, implementation: replaced[name] ?? withCheck(name, definition.implementation) }
  return Object.freeze(Object.defineProperties(own, { token: nothing, position: nothing }))
}

function withCheck(name: string, own: Implementation): Implementation {
  const check = checks[name]
  if (check === undefined) return own
  const checked: Implementation = function (...values) {
    check.apply(this, values)
    return own.apply(this, values)
  }
  // How many values a function takes decides what `$map` gives it.
  Object.defineProperty(checked, 'length', { value: own.length })
  // Which values it takes is read from its text where only some are given: `$split(?, ",")`.
  checked.toString = () => own.toString()
  return checked
}
