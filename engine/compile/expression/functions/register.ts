/** Owns which functions of the language are ours. The others take what one payload holds in a few milliseconds. */

import type jsonata from 'jsonata'
import { libraryFunction, openFrame } from '../library.ts'
import { millis, now } from './clock.ts'
import { clone } from './clone.ts'
import { each, filter, map, reduce, sift, single } from './higher-order.ts'
import { boolean, keys, lookup, merge, not, reverse, shuffle, spread, zip } from './lists.ts'
import { contains, match, replace, split } from './matching.ts'
import { average, max, min, sum } from './numbers.ts'
import { distinct, sort } from './order.ts'
import { formatInteger, formatNumber, fromMillis, parseInteger, toMillis } from './pictures.ts'
import {
  coding,
  join,
  length,
  number,
  pad,
  string,
  substring,
  substringAfter,
  substringBefore,
  trim,
} from './texts.ts'

// biome-ignore lint/suspicious/noExplicitAny: each function has values of its own.
type Implementation = (this: any, ...values: any[]) => unknown

/** With the signatures of the library's, by which it checks what they are called with. */
const functions: readonly (readonly [string, Implementation, string])[] = [
  ['average', average, '<a:n>'],
  ['boolean', boolean, '<x-:b>'],
  ['clone', clone, '<(oa)-:o>'],
  ['contains', contains, '<s-(sf):b>'],
  ['decodeUrl', coding('decodeUrl'), '<s-:s>'],
  ['decodeUrlComponent', coding('decodeUrlComponent'), '<s-:s>'],
  ['distinct', distinct, '<x:x>'],
  ['each', each, '<o-f:a>'],
  ['encodeUrl', coding('encodeUrl'), '<s-:s>'],
  ['encodeUrlComponent', coding('encodeUrlComponent'), '<s-:s>'],
  ['filter', filter, '<af>'],
  ['formatInteger', formatInteger, '<n-s:s>'],
  ['formatNumber', formatNumber, '<n-so?:s>'],
  ['fromMillis', fromMillis, '<n-s?s?:s>'],
  ['join', join, '<as?:s>'],
  ['keys', keys, '<x-:a<s>>'],
  ['length', length, '<s-:n>'],
  ['lookup', lookup, '<x-s:x>'],
  ['map', map, '<af>'],
  ['match', match, '<s-f<s:o>n?:a<o>>'],
  ['max', max, '<a:n>'],
  ['merge', merge, '<a:o>'],
  ['millis', millis, '<:n>'],
  ['min', min, '<a:n>'],
  ['not', not, '<x-:b>'],
  ['now', now, '<s?s?:s>'],
  ['number', number, '<(nsb)-:n>'],
  ['pad', pad, '<s-ns?:s>'],
  ['parseInteger', parseInteger, '<s-s:n>'],
  ['reduce', reduce, '<afj?:j>'],
  ['replace', replace, '<s-(sf)(sf)n?:s>'],
  ['reverse', reverse, '<a:a>'],
  ['shuffle', shuffle, '<a:a>'],
  ['sift', sift, '<o-f?:o>'],
  ['single', single, '<af?>'],
  ['sort', sort, '<af?:a>'],
  ['split', split, '<s-(sf)n?:a<s>>'],
  ['spread', spread, '<x-:a<o>>'],
  ['string', string, '<x-b?:s>'],
  ['substring', substring, '<s-nn?:s>'],
  ['substringAfter', substringAfter, '<s-s:s>'],
  ['substringBefore', substringBefore, '<s-s:s>'],
  ['sum', sum, '<a:n>'],
  ['toMillis', toMillis, '<s-s?:n>'],
  ['trim', trim, '<s-:s>'],
  ['zip', zip, '<a+>'],
]

/** Those of the library that need no watching, with the type of what they give where that is always the same. */
const others: Readonly<Record<string, string>> = {
  ...{ abs: 'n', append: '', assert: '', base64decode: 's', base64encode: 's', ceil: 'n', count: 'n' },
  ...{ error: '', exists: 'b', floor: 'n', formatBase: 's', lowercase: 's', power: 'n', random: 'n' },
  ...{ round: 'n', sqrt: 'n', type: 's', uppercase: 's' },
}

/** Every function of the language, with the type of what it gives as signatures write it; blank where that varies. */
export const functionTypes: ReadonlyMap<string, string> = new Map([
  ...functions.map(([name, , signature]) => [name, /:([^:]*)>$/.exec(signature)?.[1] ?? ''] as const),
  ...Object.entries(others),
])

let definitions: ReadonlyMap<string, object> | undefined

/** Makes the definitions at the first expression and shares them: reading forty signatures takes time. */
export function registerFunctions(expression: jsonata.Expression): void {
  definitions ??= defineFunctions()
  for (const [name, definition] of definitions) expression.assign(name, definition)
}

function defineFunctions(): ReadonlyMap<string, object> {
  const frame = openFrame((probe) => {
    for (const [name, implementation, signature] of functions) {
      probe.registerFunction(name, implementation, signature)
    }
  })
  return new Map(
    [...functionTypes.keys()].map((name) => [name, defineAs(name, frame.lookup(name) as object)]),
  )
}

/**
 * How many values a function takes decides what `$map` gives it, so that ours say the same as the library's.
 *
 * The library notes on a function where it was called last, and names that place in its errors. Calls overlap, so that
 * would be the place of another call, or of another expression; without it the error has that of its own.
 */
function defineAs(name: string, definition: object): object {
  const nothing = { get: () => undefined, set: () => {} }
  const arity = libraryFunction(name).length
  return Object.defineProperties({ ...definition, arity }, { token: nothing, position: nothing })
}
