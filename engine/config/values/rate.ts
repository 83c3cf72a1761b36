/** Parses rates: `600/1m` is a number of requests and a period. */

import { parseDuration } from './duration.ts'

export interface Rate {
  readonly max: number
  readonly windowMs: number
}

/** The pattern of rates for schemas. */
export const ratePattern = '^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}(s|m|h|d)$'

/** @throws RangeError if the string is not a rate */
export function parseRate(text: string): Rate {
  const [max = '', window = ''] = text.split('/')
  return { max: Number(max), windowMs: parseDuration(window) }
}
