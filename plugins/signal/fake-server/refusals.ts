/** Owns signal-cli's words for what goes wrong: always a status of 200, and an error of JSON-RPC. */

import { badGateway, type FakeVendor } from '@reveille/kit/fake-server'

export interface RefusedCall {
  readonly code: number
  readonly message: string
  readonly data: object | null
}

export function refuse(code: number, message: string, data: object | null = null): RefusedCall {
  return { code, message, data }
}

export function rpcError(code: number, message: string, id: string | null, data: object | null = null) {
  return { jsonrpc: '2.0', error: refuse(code, message, data), id }
}

export const refusals: FakeVendor['refusals'] = {
  badCredential: { body: rpcError(-6, 'Captcha rejected', '1') },
  forbidden: { body: rpcError(-4, 'Failed to send message due to untrusted identities', '1') },
  rateLimited: (retryAfterSeconds) => ({
    body: rpcError(-5, 'Failed to send message due to rate limiting', '1', {
      response: {
        timestamp: 0,
        results: [{ type: 'RATE_LIMIT_FAILURE', token: 'a-token', retryAfterSeconds }],
      },
    }),
  }),
  serverError: { body: rpcError(-32603, 'Cannot invoke "Object.toString()"', '1') },
  badGateway,
}
