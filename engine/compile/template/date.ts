/** Reads and writes times for the `date` helper. */

/** Smaller numbers are Unix seconds (until the year 5138), larger ones milliseconds (since March 1973). */
const firstMillisecond = 1e11

/** No time is longer. The parser would read a megabyte to find that out. */
const longestText = 64

const fields = /YYYY|MM|DD|HH|mm|ss/g

/**
 * Writes ISO 8601 to the second if there is no pattern. `timeZone` is an IANA name. Returns undefined for a value that
 * is no time, and for an unknown zone.
 */
export function formatDate(value: unknown, pattern: unknown, timeZone: unknown): string | undefined {
  const date = parseDate(value)
  if (date === undefined) return undefined
  if (typeof pattern !== 'string') return date.toISOString().replace(/\.\d+Z$/, 'Z')
  const parts = partsOf(date, typeof timeZone === 'string' ? timeZone : 'UTC')
  return parts && pattern.replace(fields, (field) => parts[field] ?? field)
}

function parseDate(value: unknown): Date | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  if (typeof value === 'string' && value.length > longestText) return undefined
  const seconds = typeof value === 'number' && Math.abs(value) < firstMillisecond
  const date = new Date(seconds ? value * 1000 : value)
  return Number.isNaN(date.getTime()) ? undefined : date
}

function partsOf(date: Date, timeZone: string): Record<string, string> | undefined {
  if (timeZone === 'UTC') {
    const [, YYYY = '', MM = '', DD = '', HH = '', mm = '', ss = ''] =
      /^([+-]?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/.exec(date.toISOString()) ?? []
    return { YYYY, MM, DD, HH, mm, ss }
  }
  const formatter = formatterOf(timeZone)
  if (formatter === undefined) return undefined
  const named = Object.fromEntries(formatter.formatToParts(date).map((part) => [part.type, part.value]))
  const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = named
  return { YYYY: year, MM: month, DD: day, HH: hour, mm: minute, ss: second }
}

export function isTimeZone(name: unknown): boolean {
  return typeof name === 'string' && formatterOf(name) !== undefined
}

function formatterOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  } catch {
    return undefined
  }
}
