/** Computes quiet hours: whether a moment lies in them, and when they end. */

import type { QuietHours } from '@reveille/engine'

const minuteMs = 60_000
const dayMinutes = 1440

/**
 * Returns when the quiet hours end that hold at `at`, or undefined if none hold. Milliseconds since the Unix epoch.
 *
 * The wall clock of the time zone decides, so quiet hours begin and end at the configured minutes also on days of 23 and 25
 * hours. If such a day leaves the end out, they end at the first minute after the gap. If it has the end twice, they end at
 * the first one, and minutes that the clock then shows again are quiet again. Hours that end when they begin are none.
 */
export function quietUntil(at: number, hours: QuietHours): number | undefined {
  const { from, to } = hours
  if (from === to) return undefined
  const wallMinute = createWall(hours.timezone)
  const isQuiet = (time: number) => isWithin(wallMinute(time), from, to)
  if (!isQuiet(at)) return undefined

  let end = at - (at % minuteMs)
  // If the clock is set back in between, it shows `to` later than computed, and a second round is needed.
  while (isQuiet(end)) end += minutesUntil(wallMinute(end), to) * minuteMs
  // If the clock is set forward in between, `end` is too late.
  while (!isQuiet(end - minuteMs)) end -= minuteMs
  return end
}

function isWithin(minute: number, from: number, to: number): boolean {
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

function minutesUntil(minute: number, to: number): number {
  return (to - minute + dayMinutes) % dayMinutes
}

/** Makes a function that returns the minutes after midnight on the wall clock. @throws RangeError for an unknown time zone */
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
