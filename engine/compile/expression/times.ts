/**
 * Gives `$now`, `$fromMillis` and `$toMillis` the time zones and times that people write. The library reads offsets of the
 * form `±hhmm` alone, prints `NaN` for others, and reads a time without a zone in that of the machine.
 */

import { dateTokens } from './date-pattern.ts'
import { thrownLimit } from './fault.ts'
import { timeInZone } from './time-zone.ts'

/** @throws an error in the form of the library's, for a pattern of another tool */
export function refusePicture(picture: string): void {
  if (!picture.includes('[') && picture.search(dateTokens) !== -1)
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

/** Minutes are next to hours or seconds, and months are not. */
const confused = /\[[Hh][^\]]*\]\W?\[M|\[M[^\]]*\]\W?\[s|(?<!\[[Hh][^\]]*\]\W?)\[m[^\]]*\](?!\W?\[s)/

/** Returns why a literal picture is refused. */
export function pictureProblem(picture: string): string | undefined {
  if (!isPicture(picture)) return `a picture has its fields in brackets, and "${picture}" has none`
  if (!isReadable(picture)) return `the picture "${picture}" cannot be read`
  return confused.test(picture) ? '[M01] is the month, and [m01] is the minute' : undefined
}
