/**
 * Owns how Notion hands out its secret: once, unsigned, to the address that it is to be used for.
 * https://developers.notion.com/reference/webhooks#step-2-verifying-the-subscription
 */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { Handshakes } from '../provider.ts'
import { emptyAnswer, fieldOf, onlyFieldOf } from './answers.ts'

const shape = /^[\x21-\x7e]{8,256}$/

/** It is kept only until there is a secret. A body that holds one is never an event, whose text a model could read. */
export function createNotionHandshake({ secret }: VerifyPolicy): Handshakes {
  const hasSecret = secretsOf(secret).length > 0
  return {
    methods: [],
    unsigned: !hasSecret,
    answer({ method, payload, isTrusted }) {
      if (method !== 'POST') return undefined
      const value = onlyFieldOf(payload, 'verification_token')
      if (!hasSecret && typeof value === 'string' && shape.test(value)) {
        const reason = 'Notion handed out its secret, which is kept for the operator'
        return { ...emptyAnswer(200, reason), entrusted: { name: 'verification-token', value } }
      }
      if (!isTrusted || fieldOf(payload, 'verification_token') === undefined) return undefined
      return emptyAnswer(200, 'Notion showed a secret once more, which is no event')
    },
  }
}
