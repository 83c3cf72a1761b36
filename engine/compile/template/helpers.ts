/** The helpers that a template may call: plain functions from values to a value. */

import { isRecord } from '../../config/is-record.ts'
import { isExactNumber, isInexact } from '../../payload/exact-numbers.ts'
import { InexactNumberError, jsonOf, type Output, spendWork, textOf } from '../../resolve/render/output.ts'
import { formatDate, isTimeZone } from './date.ts'

export interface Helper {
  /** The fewest and the most arguments. */
  readonly takes: readonly [number, number]
  /** Named arguments that it knows: `tz="UTC"`. */
  readonly named?: readonly string[]
  readonly usage: string
  /** What is wrong with arguments that the author wrote out; those that are read from the payload are undefined. */
  refuses?(written: readonly unknown[], named: Readonly<Record<string, unknown>>): string | undefined
  /** It is asked whether a value is there, so that an absent one is no mistake. */
  readonly takesAbsent?: true
  call(values: readonly unknown[], output: Output, named: Readonly<Record<string, unknown>>): unknown
}

export const helpers: Readonly<Record<string, Helper>> = {
  __proto__: null as never,

  json: {
    takes: [1, 2],
    usage: '{{json payload 2}}',
    refuses: ([, indent]) => unlessNumber(indent, 'indentation'),
    call: ([value, indent], output) =>
      value === undefined ? undefined : jsonOf(value, output, indentation(indent)),
  },
  /** The first that is neither absent, null nor an empty text. */
  default: {
    takes: [2, Infinity],
    takesAbsent: true,
    usage: '{{default title "no title"}}',
    call: (values) => values.find((value) => value !== undefined && value !== null && value !== ''),
  },
  /** At most so many characters, the ellipsis counted; never half of a character. */
  truncate: {
    takes: [2, 3],
    usage: '{{truncate body 200}}',
    refuses: ([, length]) => unlessNumber(length, 'length'),
    call: ([value, length, ellipsis], output) => truncate(textOf(value, output), length, ellipsis),
  },
  /** Of objects, what each holds under the name; those that hold nothing there are left out. */
  join: {
    takes: [1, 3],
    usage: '{{join labels ", "}}, or {{join labels ", " "name"}} for a list of objects',
    refuses: ([, , name]) =>
      name === undefined || typeof name === 'string' ? undefined : 'the name of the property must be a text',
    call: ([value, separator = ', ', name], output) =>
      Array.isArray(value) ? joinAll(value, textOf(separator, output), name, output) : value,
  },
  /** A time, from ISO 8601 text or Unix seconds or milliseconds; absent where it is none. */
  date: {
    takes: [1, 2],
    named: ['tz'],
    usage: '{{date created "YYYY-MM-DD HH:mm" tz="Europe/Berlin"}}',
    refuses: (_written, { tz }) =>
      tz === undefined || isTimeZone(tz) ? undefined : 'there is no time zone of that name',
    call: ([value, pattern], _output, { tz }) => formatDate(value, pattern, tz),
  },
  eq: {
    takes: [2, 2],
    takesAbsent: true,
    usage: '{{#if (eq action "opened")}}',
    call: ([left, right], output) => isEqual(left, right, output),
  },
  /** The first that is not true, or the last. */
  and: {
    takes: [2, Infinity],
    takesAbsent: true,
    usage: '{{#if (and merged (eq action "closed"))}}',
    call: (values) => (values.every(isTruthy) ? values.at(-1) : values.find((value) => !isTruthy(value))),
  },
  /** The first that is true, or the last. */
  or: {
    takes: [2, Infinity],
    takesAbsent: true,
    usage: '{{or name login}}',
    call: (values) => values.find(isTruthy) ?? values.at(-1),
  },
  not: {
    takes: [1, 1],
    takesAbsent: true,
    usage: '{{#if (not draft)}}',
    call: ([value]) => !isTruthy(value),
  },
  /** The word that fits a number, or the length of a list; the plural is the word with an s unless it is given. */
  plural: {
    takes: [2, 3],
    usage: '{{commits.length}} {{plural commits "commit"}}',
    call: ([count, one, many], output) => {
      const word = textOf(one, output)
      const number = Array.isArray(count) ? count.length : count
      // An object may have a `toString` of the payload's that cannot be called.
      const single = typeof number !== 'object' && Number(number) === 1
      return single ? word : many === undefined ? `${word}s` : textOf(many, output)
    },
  },
  /** As a Markdown quotation: every line begins with `> `. */
  quote: {
    takes: [1, 1],
    usage: '{{quote comment.body}}',
    call: ([value], output) => {
      const text = textOf(value, output)
      return text === '' ? value : quoteLines(text, output)
    },
  },
}

function quoteLines(text: string, output: Output): string {
  const quoted = text.replace(beginnings, '> ')
  spendWork(output.meter, text.length + quoted.length)
  return quoted
}

const beginnings = /^/gm

/** Large integers by their digits: rounded, different ones would be equal, and exact ones are objects. */
function isEqual(left: unknown, right: unknown, output: Output): boolean {
  if (!output.exact && (isInexact(left) || isInexact(right))) throw new InexactNumberError()
  return isExactNumber(left) && isExactNumber(right) ? left.rawJSON === right.rawJSON : left === right
}

function unlessNumber(written: unknown, what: string): string | undefined {
  return written === undefined || typeof written === 'number'
    ? undefined
    : `the ${what} must be a number, without quotes`
}

function indentation(value: unknown): number | undefined {
  return typeof value === 'number' ? Math.min(Math.max(Math.trunc(value), 0), 8) : undefined
}

function truncate(text: string, length: unknown, ellipsis: unknown): string {
  if (typeof length !== 'number' || Number.isNaN(length) || text.length <= length) return text
  const mark = typeof ellipsis === 'string' ? ellipsis : '…'
  const room = Math.max(Math.trunc(length) - mark.length, 0)
  // A cut between the halves of a surrogate pair would leave an unpaired one.
  const split =
    room > 0 && /[\ud800-\udbff]/.test(text.charAt(room - 1)) && /[\udc00-\udfff]/.test(text.charAt(room))
  return text.slice(0, split ? room - 1 : room).trimEnd() + mark
}

function joinAll(values: readonly unknown[], separator: string, name: unknown, output: Output): string {
  const named = typeof name === 'string' ? name : undefined
  const parts = values.map((value) => {
    const part = textOf(named === undefined ? value : propertyOf(value, named), output)
    spendWork(output.meter, part.length + separator.length)
    return part
  })
  return (named === undefined ? parts : parts.filter((part) => part !== '')).join(separator)
}

/** An element that is no object stands for itself: some senders write labels as texts, others as objects. */
function propertyOf(value: unknown, name: string): unknown {
  if (!isRecord(value) || isExactNumber(value)) return value
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/** As in Handlebars, an empty list counts as false. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}
