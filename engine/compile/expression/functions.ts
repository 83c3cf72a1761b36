/** Lists the functions of JSONata, and registers ours in place of some of them. */

import jsonata from 'jsonata'
import { maxTextLength, thrownLimit, tooMuchText } from './fault.ts'
import { hasOwnZone, libraryOffset, refusePicture } from './times.ts'

/** The library's functions. */
export const functionNames: ReadonlySet<string> = new Set(
  `abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl decodeUrlComponent distinct
    each encodeUrl encodeUrlComponent error exists filter floor formatBase formatInteger formatNumber fromMillis join keys length
    lookup lowercase map match max merge millis min not now number pad parseInteger power random reduce replace reverse round
    shuffle sift single sort split spread sqrt string substring substringAfter substringBefore sum toMillis trim type uppercase
    zip`.split(/\s+/),
)

/** The variable with the request's time. No author can use the name, because names end at a space. */
export const timeVariable = ' time'

function timeOf({ environment }: jsonata.Focus): number {
  return Number(environment.lookup(timeVariable))
}

/**
 * V8's own text search takes time for each character of both texts, and nothing can interrupt it: 19 s if both come
 * from a payload of a megabyte. Up to this limit it takes a fraction of a second.
 */
const maxCompared = 2_000_000_000

/**
 * The library makes a regular expression with a group for each field of a picture, and nothing can interrupt its compilation:
 * 14 s for 11,000 fields.
 */
const maxPictureLength = 10_000

function checkSearch(text: unknown, wanted: unknown): void {
  if (typeof text !== 'string' || typeof wanted !== 'string') return
  if (text.length * wanted.length > maxCompared) throw thrownLimit('the texts are too long to be searched')
}

/**
 * Registers functions in place of the library's: bounded ones, and those of times. The library reads names and number of
 * their parameters for partial calls and for `$map`, so they have those of the library.
 */
export function registerFunctions(expression: jsonata.Expression): void {
  for (const [name, [signature, implementation]] of Object.entries(ours))
    expression.registerFunction(name, implementation, signature)
}

// biome-ignore lint/suspicious/noExplicitAny: the signature checks the values.
type Implementation = (this: jsonata.Focus, ...values: any[]) => unknown

type Check = (first: unknown, second: unknown) => void

function checked(name: string, check: Check, values: readonly unknown[]): unknown {
  check(values[0], values[1])
  return inLibrary(`$${name}(${['$a', '$b', '$c', '$d'].slice(0, values.length).join(', ')})`, values)
}

function checkWidth(_text: unknown, width: unknown): void {
  if (Math.abs(Number(width)) > maxTextLength) throw tooMuchText()
}

const ours: Readonly<Record<string, readonly [signature: string, implementation: Implementation]>> = {
  contains: [
    '<s-(sf):b>',
    (str, pattern) => {
      checkSearch(str, pattern)
      // Conditions call it most, and an evaluation of the library's takes as long as the rest of a condition.
      if (typeof str === 'string' && typeof pattern === 'string') return str.includes(pattern)
      return inLibrary('$contains($a, $b)', [str, pattern])
    },
  ],
  split: [
    '<s-(sf)n?:a<s>>',
    (str, separator, limit) => checked('split', checkSearch, [str, separator, limit]),
  ],
  replace: [
    '<s-(sf)(sf)n?:s>',
    (str, pattern, replacement, limit) => checked('replace', checkSearch, [str, pattern, replacement, limit]),
  ],
  substringBefore: ['<s-s:s>', (str, chars) => checked('substringBefore', checkSearch, [str, chars])],
  substringAfter: ['<s-s:s>', (str, chars) => checked('substringAfter', checkSearch, [str, chars])],
  pad: ['<s-ns?:s>', (str, width, char) => checked('pad', checkWidth, [str, width, char])],
  now: [
    '<s?s?:s>',
    function (picture, timezone) {
      return writeTime(timeOf(this), picture, timezone)
    },
  ],
  millis: [
    '<:n>',
    function () {
      return timeOf(this)
    },
  ],
  fromMillis: ['<n-s?s?:s>', (timestamp, picture, timezone) => writeTime(timestamp, picture, timezone)],
  toMillis: [
    '<s-s?:n>',
    // Without a zone an ISO 8601 time is in UTC, and not in the zone of the machine.
    function (timestamp, picture) {
      if (picture?.length > maxPictureLength) throw thrownLimit('the picture is too long')
      const time = picture === undefined && !hasOwnZone(timestamp) ? `${timestamp}Z` : timestamp
      return inLibrary('($setTime($c); $toMillis($a, $b))', [time, picture, timeOf(this)])
    },
  ],
}

const defaultPicture = '[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]'

/** @throws an error in the form of the library's, for a zone or a picture that cannot be read */
function writeTime(millis: number | undefined, picture = defaultPicture, zone = 'Z'): unknown {
  if (millis === undefined) return undefined
  refusePicture(picture)
  return inLibrary('$fromMillis($a, $b, $c)', [millis, picture, libraryOffset(millis, zone)])
}

const calls = new Map<string, jsonata.Expression>()

/** Calls functions of the library with values, as `$a`, `$b` and so on. Errors get their place from the caller. */
async function inLibrary(source: string, values: readonly unknown[]): Promise<unknown> {
  let call = calls.get(source)
  if (call === undefined) {
    call = jsonata(source)
    // The library takes the missing parts of a time from the time at which an expression is evaluated.
    call.registerFunction('setTime', function (this: jsonata.Focus, time: number) {
      Object.assign(this.environment, { timestamp: new Date(time) })
    })
    calls.set(source, call)
  }
  try {
    return await call.evaluate(
      undefined,
      Object.fromEntries(values.map((value, index) => ['abcd'[index], value])),
    )
  } catch (error) {
    throw { ...(error as object), position: undefined, token: undefined }
  }
}

let pinned: Promise<void> | undefined

/**
 * The library's functions are objects that all expressions share. The library notes on them where they were called last,
 * which may be in another expression, and a transform `|…|…|` may select and change them.
 */
export function pinFunctions(): Promise<void> {
  pinned ??= pinAll()
  return pinned
}

async function pinAll(): Promise<void> {
  const nothing = { get: () => undefined, set: () => {} }
  for (const name of functionNames.keys()) {
    const shared: object = await jsonata(`$${name}`).evaluate(undefined)
    Object.freeze((shared as { signature?: unknown }).signature)
    Object.freeze(Object.defineProperties(shared, { token: nothing, position: nothing }))
  }
}
