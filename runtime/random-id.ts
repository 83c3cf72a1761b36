/** Creates short random ids for the marks of a fence, which a payload must not be able to foresee. */

import { randomBytes } from 'node:crypto'

/** 48 random bits in base64url. */
export function randomId(): string {
  return randomBytes(6).toString('base64url')
}
