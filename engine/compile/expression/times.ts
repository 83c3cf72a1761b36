/**
 * Gives `$now`, `$fromMillis` and `$toMillis` the time zones and times that people write. The library reads offsets of the
 * form `±hhmm` alone, prints `NaN` for others, and reads a time without a zone in that of the machine.
 */

import { asMonthsAndMinutes, meantPattern } from '../date-pattern.ts'
import { timeInZone } from '../time-zone.ts'
import { libraryDefinition } from './library.ts'
import { thrownLimit } from './limit.ts'

const defaultPicture = '[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]'

/** Replaces the library's `$fromMillis`. @throws a fault of the library's form, for a zone or picture that cannot be read */
export function fromMillis(this: unknown, millis?: number, picture = defaultPicture, zone = 'Z'): unknown {
  if (millis === undefined) return undefined
  if (!picture.includes('[') && meantPattern(picture) !== undefined)
    throw thrownLimit('a picture has its fields in brackets', 'D3132')
  const time = timeInZone(millis, zone)
  if (time === undefined) throw thrownLimit('there is no such time, or no such time zone', 'D3134')
  return libraryDefinition('fromMillis').implementation.call(
    this,
    millis,
    picture,
    libraryOffset(time.offset),
  )
}

/** Replaces the library's `$toMillis`: UTC where an ISO 8601 time has no zone. */
export function toMillis(this: unknown, time?: string, picture?: string): unknown {
  const isLocal = picture === undefined && time !== undefined && /T\d\d:\d\d:\d\d(?:\.\d+)?$/.test(time)
  return libraryDefinition('toMillis').implementation.call(this, isLocal ? `${time}Z` : time, picture)
}

/** Whether a picture has a field. A blank one is harmless. */
function isPicture(picture: string): boolean {
  return picture.includes('[') || !/[A-Za-z]/.test(picture)
}

/** The library rounds the hours of a negative offset down, so `-03:30` is passed as `-0230`. */
function libraryOffset(offset: string): string {
  const [, sign, hours = '', minutes = ''] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  const rounded = sign === '-' && minutes !== '00' ? Number(hours) - 1 : Number(hours)
  return `${sign}${String(rounded).padStart(2, '0')}${minutes}`
}

const fields: Readonly<Record<string, string>> = {
  ...{ YYYY: '[Y0001]', MM: '[M01]', DD: '[D01]', HH: '[H01]', mm: '[m01]', ss: '[s01]', Z: '[Z01:01t]' },
}
const tokensOfFields: Readonly<Record<string, string>> = {
  ...{ Y: 'YYYY', M: 'MM', D: 'DD', H: 'HH', h: 'HH', m: 'mm', s: 'ss', Z: 'Z' },
}

/** Returns why a literal picture is refused, with the picture that was probably meant. */
export function pictureProblem(
  picture: string,
): { readonly message: string; readonly meant: string } | undefined {
  const names = picture.replace(/[[\]]/g, '')
  const meant = pictureOf(meantPattern(isPicture(picture) ? names : picture) ?? 'YYYY-MM-DD HH:mm')
  if (!isPicture(picture))
    return { message: `a picture has its fields in brackets, and "${picture}" has none`, meant }
  try {
    libraryDefinition('fromMillis').implementation.call(undefined, 0, picture)
  } catch {
    return { message: `the picture "${picture}" cannot be read`, meant }
  }
  const pattern = picture.replace(
    /\[([YMDHhmsZ])[^\]A-Za-z]*\]/g,
    (_all, field: string) => tokensOfFields[field] ?? '',
  )
  const better = asMonthsAndMinutes(pattern)
  if (better === pattern) return undefined
  return { message: '[M01] is the month, and [m01] is the minute', meant: pictureOf(better) }
}

function pictureOf(pattern: string): string {
  return pattern.replace(/YYYY|MM|DD|HH|mm|ss|Z/g, (token) => fields[token] ?? token)
}
