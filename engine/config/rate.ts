/** Parses rates: the text `600/1m` says how many requests are allowed in how long. */

import { parseDuration } from './duration.ts'

export interface Rate {
  readonly most: number
  readonly windowMs: number
}

/** What a rate looks like, for schemas. */
export const ratePattern = '^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}(s|m|h|d)$'

/** @throws RangeError when the text is no rate */
export function parseRate(text: string): Rate {
  const [most = '', window = ''] = text.split('/')
  return { most: Number(most), windowMs: parseDuration(window) }
}
