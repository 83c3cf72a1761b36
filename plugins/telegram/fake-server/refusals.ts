/** Owns the Bot API's words for what goes wrong. */

import { badGateway, type FakeServerAnswer, type FakeVendor } from '@reveille/kit/fake-server'

export function refuse(status: number, description: string, parameters?: object): FakeServerAnswer {
  const body = { ok: false, error_code: status, description, ...(parameters && { parameters }) }
  return { status, body }
}

export function badRequest(words: string, parameters?: object): FakeServerAnswer {
  return refuse(400, `Bad Request: ${words}`, parameters)
}

export const refusals: FakeVendor['refusals'] = {
  badCredential: refuse(401, 'Unauthorized'),
  forbidden: refuse(403, 'Forbidden: bot was blocked by the user'),
  rateLimited: (seconds) => ({
    ...refuse(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }),
    headers: { 'retry-after': String(seconds) },
  }),
  serverError: refuse(500, 'Internal Server Error'),
  badGateway,
}
