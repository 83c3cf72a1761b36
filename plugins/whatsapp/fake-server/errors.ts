/** Owns the form of Graph's errors, and those that take more than a code and a sentence. */

import type { FakeServerAnswer } from '@reveille/kit/fake-server'

/** The status that Meta's page names for a code; it says not to rely on it. Others: 400. */
const statuses: Readonly<Record<number, number>> = {
  1: 500,
  2: 503,
  104: 401,
  190: 401,
  131000: 500,
  131016: 500,
  131031: 403,
}

export function graphError(code: number, message: string, more: object = {}): FakeServerAnswer {
  const error = { message: `(#${code}) ${message}`, type: 'OAuthException', code, fbtrace_id: 'AFake1' }
  return { status: statuses[code] ?? 400, body: { error: { ...error, ...more } } }
}

export function invalidParameter(details: string): FakeServerAnswer {
  return graphError(100, 'Invalid parameter', detailed(details))
}

export const reEngagement = graphError(
  131047,
  'Re-engagement message',
  detailed('More than 24 hours have passed since the recipient last wrote to this number.'),
)

export const pairRate = graphError(
  131056,
  '(Business Account, Consumer Account) pair rate limit hit',
  detailed('Too many messages went from this number to the same number in a short time.'),
)

function detailed(details: string): object {
  return { error_data: { messaging_product: 'whatsapp', details } }
}
