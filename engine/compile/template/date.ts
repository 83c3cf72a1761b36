/** Reads and writes times for the `date` helper. Nothing is guessed: neither a time zone nor the order of day and month. */

import { dateTokens, patternProblem } from '../expression/date-pattern.ts'
import { timeInZone } from '../expression/time-zone.ts'

/** Smaller numbers are Unix seconds (until the year 5138), larger ones milliseconds (since March 1973). */
const firstMillisecond = 1e11

/** No time is longer. */
const maxLength = 64

/** From 9 digits (1973), because a shorter number in quotes is rather a count or an id. Slack's times have a fraction. */
const unixDigits = /^(?:\d{9,11}(?:\.\d{1,9})?|\d{12,13})$/

/**
 * ISO 8601, extended or basic, to the day or longer. Its readers accept a blank for the `T`, and a blank or `UTC` at the
 * zone, as Rails and Python write them.
 */
const iso =
  /^(\d{4})(-?)(\d\d)\2(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)? ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/i

/** The date of a mail or of an HTTP header, https://www.rfc-editor.org/rfc/rfc5322#section-3.3 */
const mailDate =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?(\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d(?::\d\d)?)(?: (GMT|UTC|[+-]\d{4})(?: \(\w+\))?)?$/i

interface Time {
  readonly date: Date
  /** A calendar day belongs to no time zone. */
  readonly isDay?: true
}

/**
 * Writes ISO 8601 to the second if there is no pattern. `timeZone` is an IANA name or an offset such as `+02:00`; UTC by
 * default. Returns undefined for a value that is no time, and for an unknown zone.
 */
export function formatDate(value: unknown, pattern: unknown, timeZone: unknown): string | undefined {
  const time = parseTime(value)
  if (time === undefined) return undefined
  const zone = typeof timeZone === 'string' && time.isDay !== true ? timeZone : 'UTC'
  const parts = partsOf(time.date, zone)
  const isUsable = typeof pattern === 'string' && patternProblem(pattern) === undefined
  const used = isUsable ? pattern : 'YYYY-MM-DDTHH:mm:ssZ'
  return parts && used.replace(dateTokens, (token) => parts[token] ?? token)
}

export function isTime(value: unknown): boolean {
  return parseTime(value) !== undefined
}

function parseTime(value: unknown): Time | undefined {
  if (typeof value === 'number') return validTime(Math.abs(value) < firstMillisecond ? value * 1000 : value)
  if (typeof value !== 'string' || value.length > maxLength) return undefined
  const text = value.trim()
  if (unixDigits.test(text)) return parseTime(Number(text))
  const [, clock, zone = 'GMT'] = mailDate.exec(text) ?? []
  return clock === undefined ? parseIso(text) : validTime(Date.parse(`${clock} ${zone}`))
}

function parseIso(text: string): Time | undefined {
  const match = iso.exec(text)
  if (match === null) return undefined
  const [, year, , month, day, hour, minute = '00', second = '00', fraction = '0', zone = 'Z'] = match
  // `Date.parse` makes the 30th of February a day in March.
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number(day) > lastDay) return undefined
  if (hour === undefined) {
    const time = validTime(Date.parse(`${year}-${month}-${day}T00:00:00Z`))
    return time && { ...time, isDay: true }
  }
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3)
  const offset = /^[+-]/.test(zone)
    ? zone.replace(/^(.\d\d):?(\d\d)?$/, (_all, h, m = '00') => `${h}:${m}`)
    : 'Z'
  return validTime(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}${offset}`))
}

function validTime(milliseconds: number): Time | undefined {
  const date = new Date(milliseconds)
  return Number.isNaN(date.getTime()) ? undefined : { date }
}

function partsOf(date: Date, zone: string): Record<string, string> | undefined {
  const time = timeInZone(date.getTime(), zone)
  if (time === undefined) return undefined
  const Z = zone === 'UTC' || zone === 'Z' ? 'Z' : time.offset
  const { year, month, day, hour, minute, second } = time
  return { YYYY: year, MM: month, DD: day, HH: hour, mm: minute, ss: second, Z }
}
