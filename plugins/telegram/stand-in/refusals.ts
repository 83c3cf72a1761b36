/** Owns the Bot API's words for what goes wrong. */

import type { StandInAnswer, VendorStandIn } from '@reveille/kit/stand-in'

export function refuse(status: number, description: string, parameters?: object): StandInAnswer {
  const body = { ok: false, error_code: status, description, ...(parameters && { parameters }) }
  return { status, body }
}

export function badRequest(words: string, parameters?: object): StandInAnswer {
  return refuse(400, `Bad Request: ${words}`, parameters)
}

export const refusals: VendorStandIn['refusals'] = {
  badCredential: refuse(401, 'Unauthorized'),
  forbidden: refuse(403, 'Forbidden: bot was blocked by the user'),
  rateLimited: (seconds) => ({
    ...refuse(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }),
    headers: { 'retry-after': String(seconds) },
  }),
  serverError: refuse(500, 'Internal Server Error'),
  badGateway: {
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
  },
}
