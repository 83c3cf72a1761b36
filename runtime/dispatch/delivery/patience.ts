/** Owns how long a delivery is tried: by the time since its first try, never by a number of tries. */

import type { DeliveryRecord } from '../../store/port.ts'

/** Why a delivery is tried no more, before what it met last; undefined while it is tried. */
export function endOfPatience(
  { attempts, firstTriedAt }: Pick<DeliveryRecord, 'attempts' | 'firstTriedAt'>,
  retryForMs: number,
  now: number,
): string | undefined {
  if (firstTriedAt === undefined || now - firstTriedAt < retryForMs) return undefined
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  // Tries that were no attempts are not counted: where there are none, the channel was held all the while.
  return `given up after ${attempts === 0 ? '' : `${tries} in `}${inWords(retryForMs)}: `
}

const units = [
  ['d', 86_400_000, 2],
  ['h', 3_600_000, 1],
  ['min', 60_000, 1],
  ['s', 1000, 1],
] as const

/** 24 hours are a day's worth, and a day is not what the setting says: days begin at two. */
function inWords(ms: number): string {
  const [unit, each] = units.find(([, one, least]) => ms >= least * one) ?? ['s', 1000]
  return `${Math.round((ms / each) * 10) / 10} ${unit}`
}
