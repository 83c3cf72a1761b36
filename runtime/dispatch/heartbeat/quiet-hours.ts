/** Owns quiet hours: whether a moment lies in them, and when they are over. */

import type { QuietHours } from '@reveille/engine'

const minuteMs = 60_000
const dayMinutes = 1440

/**
 * When the quiet hours end that hold at `at`; undefined where none hold. Milliseconds since the Unix epoch.
 *
 * What a clock on the wall of that time zone shows decides, so that they begin and end at the configured minutes also
 * on the days of 23 and of 25 hours. An end that such a day leaves out is the first minute after the gap; one that
 * it has twice is the first of the two, and where the clock then shows quiet minutes again, they are quiet again.
 * Hours that end when they begin are none.
 */
export function quietUntil(at: number, hours: QuietHours): number | undefined {
  const { from, to } = hours
  if (from === to) return undefined
  const wallMinute = createWall(hours.timezone)
  const isQuiet = (time: number) => isWithin(wallMinute(time), from, to)
  if (!isQuiet(at)) return undefined

  let end = at - (at % minuteMs)
  // A second round is needed where the clock was set back in between, as it then shows `to` later than reckoned.
  while (isQuiet(end)) end += minutesUntil(wallMinute(end), to) * minuteMs
  // Where it was set forward, that was too far.
  while (!isQuiet(end - minuteMs)) end -= minuteMs
  return end
}

function isWithin(minute: number, from: number, to: number): boolean {
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

function minutesUntil(minute: number, to: number): number {
  return (to - minute + dayMinutes) % dayMinutes
}

/** Minutes after midnight, as the wall shows them. @throws RangeError for a time zone that nobody knows */
function createWall(timezone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (time) => {
    const [hours, minutes] = format.format(time).split(':').map(Number)
    return (hours ?? 0) * 60 + (minutes ?? 0)
  }
}
