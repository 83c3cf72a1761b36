/** Reads names of time zones for the helper `date`, and for `$now` and `$fromMillis`. */

export interface ZonedTime {
  readonly year: string
  readonly month: string
  readonly day: string
  readonly hour: string
  readonly minute: string
  readonly second: string
  /** Such as `+02:00`. */
  readonly offset: string
}

/** Names of zones may come from a payload, so only a few formatters are kept. */
const maxFormatters = 50
const formatters = new Map<string, Intl.DateTimeFormat>()

/** `name` is an IANA name, `Z`, or an offset such as `+02:00`, `+0200` or `+2`. */
export function isTimeZone(name: unknown): boolean {
  return typeof name === 'string' && formatterOf(name) !== undefined
}

/** Returns undefined for an unknown zone, and for a time that no calendar has. */
export function timeInZone(milliseconds: number, zone: string): ZonedTime | undefined {
  const formatter = formatterOf(zone)
  if (formatter === undefined || Number.isNaN(new Date(milliseconds).getTime())) return undefined
  const named = Object.fromEntries(
    formatter.formatToParts(milliseconds).map((part) => [part.type, part.value]),
  )
  const { year = '', month = '', day = '', hour = '', minute = '', second = '', timeZoneName = '' } = named
  const offset = timeZoneName.slice('GMT'.length, 'GMT+00:00'.length) || '+00:00'
  return { year: year.padStart(4, '0'), month, day, hour, minute, second, offset }
}

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  const cached = formatters.get(zone)
  if (cached !== undefined) return cached
  try {
    const formatter = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone === 'Z' ? 'UTC' : zone.replace(/^([+-])(\d)$/, '$10$2'),
      timeZoneName: 'longOffset',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    if (formatters.size < maxFormatters) formatters.set(zone, formatter)
    return formatter
  } catch {
    return undefined
  }
}
