/** The headers that protect what the admin surface answers, by helmet. */

import { randomBytes } from 'node:crypto'
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { onceForEach } from '../once-for-each.ts'

const nonces = onceForEach((_response: object) => ({ nonce: randomBytes(16).toString('base64') }))

/** The nonce in the policy of this response. */
export function nonceOf({ raw }: { readonly raw: object }): string {
  return nonces(raw).nonce
}

/** To be awaited before hooks and routes are added. */
export async function protectAnswers(app: FastifyInstance): Promise<void> {
  const nonce = (_request: object, raw: object) => `'nonce-${nonceOf({ raw })}'`
  await app.register(helmet, {
    // Only the proxy knows whether the host is reached by TLS alone.
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        // Scripts are those of the page and what they load. An editor makes elements for its styles, which need the nonce too.
        scriptSrc: [nonce, "'strict-dynamic'", "'self'"],
        styleSrc: ["'self'", nonce],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        requireTrustedTypesFor: ["'script'"],
      },
    },
  })
}
