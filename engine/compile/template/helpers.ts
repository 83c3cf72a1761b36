/** Provides the helpers of templates, which are plain functions from values to a value. */

import { isRecord } from '../../config/values/is-record.ts'
import { jsonOf, type Output, spendWork, textOf } from '../../resolve/model/output.ts'
import { patternProblem } from '../expression/date-pattern.ts'
import { isTimeZone } from '../expression/time-zone.ts'
import { formatDate, isTime } from './date.ts'

export interface Helper {
  /** The minimum and maximum number of arguments. */
  readonly takes: readonly [number, number]
  /** The named arguments, such as `tz="UTC"`. */
  readonly named?: readonly string[]
  readonly usage: string
  /** Returns the mistake in literal arguments. Arguments from the payload are undefined. */
  refuses?(
    written: readonly unknown[],
    named: Readonly<Record<string, unknown>>,
  ): string | { readonly message: string; readonly hint: string } | undefined
  /** True if the helper may get an absent value, because it tests whether a value is there. */
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
  /** Returns the first value that is neither absent, null nor an empty text. */
  default: {
    takes: [2, Infinity],
    takesAbsent: true,
    usage: '{{default title "no title"}}',
    call: (values) => values.find((value) => value !== undefined && value !== null && value !== ''),
  },
  /** Returns at most this many characters, including the ellipsis, and never half of a character. */
  truncate: {
    takes: [2, 3],
    usage: '{{truncate body 200}}',
    refuses: ([value, length]) =>
      typeof value === 'number' ? 'the field comes before the length' : unlessNumber(length, 'length'),
    call: ([value, length, ellipsis], output) => truncate(textOf(value, output), length, ellipsis),
  },
  /** Joins a list. For objects, joins the named field of each, without those that lack it. */
  join: {
    takes: [1, 3],
    usage: '{{join labels ", "}}, or {{join labels ", " "name"}} for a list of objects',
    refuses: ([, , name]) =>
      name === undefined || typeof name === 'string' ? undefined : 'the name of the property must be a text',
    call: ([value, separator = ', ', name], output) =>
      Array.isArray(value) ? joinAll(value, textOf(separator, output), name, output) : value,
  },
  /** Formats a time, from ISO 8601 or Unix seconds or milliseconds. Returns any other value unchanged. */
  date: {
    takes: [1, 2],
    named: ['tz'],
    usage: '{{date created "YYYY-MM-DD HH:mm" tz="Europe/Berlin"}}',
    refuses: ([value, pattern], { tz }) => {
      if (value !== undefined && !isTime(value)) return 'the field with the time comes first'
      if (pattern !== undefined && typeof pattern !== 'string') return 'the pattern must be in quotes'
      if (tz !== undefined && !isTimeZone(tz)) return 'there is no time zone of that name'
      return pattern === undefined ? undefined : patternProblem(pattern)
    },
    call: ([value, pattern], _output, { tz }) => formatDate(value, pattern, tz) ?? value,
  },
  eq: {
    takes: [2, 2],
    takesAbsent: true,
    usage: '{{#if (eq action "opened")}}',
    call: ([left, right]) => left === right,
  },
  /** Returns the first value that is not true, or the last. */
  and: {
    takes: [2, Infinity],
    takesAbsent: true,
    usage: '{{#if (and merged (eq action "closed"))}}',
    call: (values) => (values.every(isTruthy) ? values.at(-1) : values.find((value) => !isTruthy(value))),
  },
  /** Returns the first value that is true, or the last. */
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
  /** Returns the word for a number, or for the length of a list. The default plural adds an s. */
  plural: {
    takes: [2, 3],
    usage: '{{commits.length}} {{plural commits "commit"}}',
    call: ([count, one, many], output) => {
      const word = textOf(one, output)
      const number = Array.isArray(count) ? count.length : count
      // A payload's object may have a `toString` that cannot be called.
      const single = typeof number !== 'object' && Number(number) === 1
      return single ? word : many === undefined ? `${word}s` : textOf(many, output)
    },
  },
  /** Returns a Markdown quotation, in which every line begins with `> `. */
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

/** Returns an element that is not an object as it is, because some senders write labels as texts, others as objects. */
function propertyOf(value: unknown, name: string): unknown {
  if (!isRecord(value)) return value
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/** An empty list counts as false, as in Handlebars. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}
