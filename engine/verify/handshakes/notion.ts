/**
 * Owns how Notion hands out its secret: once, unsigned, to the address that it is to be used for.
 * https://developers.notion.com/reference/webhooks#step-2-verifying-the-subscription
 */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { Handshakes } from '../provider.ts'
import { emptyAnswer, onlyFieldOf } from './answers.ts'

const shape = /^[\x21-\x7e]{8,256}$/

/** Only until there is a secret: after that, whoever sends one is not the one that is known. */
export function createNotionHandshake({ secret }: VerifyPolicy): Handshakes | undefined {
  if (secretsOf(secret).length > 0) return undefined
  return {
    methods: [],
    unsigned: true,
    answer({ method, payload }) {
      const value = onlyFieldOf(payload, 'verification_token')
      if (method !== 'POST' || typeof value !== 'string' || !shape.test(value)) return undefined
      const reason = 'Notion handed out its secret, which is kept for the operator'
      return { ...emptyAnswer(200, reason), entrusted: { name: 'verification-token', value } }
    },
  }
}
