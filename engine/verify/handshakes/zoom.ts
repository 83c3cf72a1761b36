/** Owns Zoom's `endpoint.url_validation`: https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint */

import { createHmac } from 'node:crypto'
import type { VerifyPolicy } from '../../config/configuration.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { Handshakes } from '../provider.ts'
import { fieldOf, jsonAnswer } from './answers.ts'

/** What is signed of a request holds colons and braces: no answer to a token of these characters can sign one. */
const harmless = /^[\w+/=.-]{1,256}$/

export function createZoomHandshake({ secret }: VerifyPolicy): Handshakes | undefined {
  const newest = secretsOf(secret)[0]?.text
  if (newest === undefined) return undefined
  return {
    methods: [],
    unsigned: false,
    answer({ isTrusted, payload }) {
      if (!isTrusted || fieldOf(payload, 'event') !== 'endpoint.url_validation') return undefined
      const plain = fieldOf(fieldOf(payload, 'payload'), 'plainToken')
      if (typeof plain !== 'string' || !harmless.test(plain)) return undefined
      const encryptedToken = createHmac('sha256', newest).update(plain).digest('hex')
      return jsonAnswer({ plainToken: plain, encryptedToken }, 'Zoom asked whether the secret is known here')
    },
  }
}
