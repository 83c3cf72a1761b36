/**
 * Gives `$now`, `$fromMillis` and `$toMillis` the time zones and times that people write. The library reads offsets of the
 * form `±hhmm` alone, prints `NaN` for others, and reads a time without a zone in that of the machine.
 */

import { asMonthsAndMinutes, meantPattern } from './date-pattern.ts'
import { thrownLimit } from './fault.ts'
import { timeInZone } from './time-zone.ts'

/** @throws an error in the form of the library's, for a pattern of another tool */
export function refusePicture(picture: string): void {
  if (!picture.includes('[') && meantPattern(picture) !== undefined)
    throw thrownLimit('a picture has its fields in brackets', 'D3132')
}

/** True if an ISO 8601 time has a zone, or needs none because it is a date. */
export function hasOwnZone(time: unknown): boolean {
  return !/T\d\d:\d\d:\d\d(?:\.\d+)?$/.test(String(time))
}

/**
 * Returns the offset of a zone in the form that the library reads. It rounds the hours of a negative one down, so `-03:30`
 * is `-0230`. @throws an error in the form of the library's
 */
export function libraryOffset(millis: number, zone: string): string {
  const time = timeInZone(millis, zone)
  if (time === undefined) throw thrownLimit('there is no such time, or no such time zone', 'D3134')
  const [, sign, hours = '', minutes = ''] = /^([+-])(\d\d):(\d\d)$/.exec(time.offset) ?? []
  const rounded = sign === '-' && minutes !== '00' ? Number(hours) - 1 : Number(hours)
  return `${sign}${String(rounded).padStart(2, '0')}${minutes}`
}

/** True if a picture has a field. A blank one is harmless. */
function isPicture(picture: string): boolean {
  return picture.includes('[') || !/[A-Za-z]/.test(picture)
}

/** A field that the library knows: its letter, how it is written, and how wide. Only some have names. */
const knownField =
  /^(?:[YMDdFWwXxHhPmsfCE](?:[#\d]*|[iIaAwW]|Ww)|[Zz][\d:]*|[MFxPCE](?:[nN]|Nn))[oct]?(?:,[^A-Za-z]*)?$/

/** True if each part in brackets is a field that the library knows. */
function isReadable(picture: string): boolean {
  const parts = picture.replaceAll('[[', '').matchAll(/\[([^\]]*)(\])?/g)
  return [...parts].every(
    ([, part = '', end]) => end !== undefined && knownField.test(part.replace(/\s/g, '')),
  )
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
  if (!isReadable(picture)) return { message: `the picture "${picture}" cannot be read`, meant }
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
