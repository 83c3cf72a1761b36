/** Owns Meta's verification request: https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { isSameSecret } from '../compare.ts'
import type { Handshakes } from '../provider.ts'
import { emptyAnswer, isEcho, oneText, plainAnswer } from './answers.ts'

export function createMetaHandshake({ verifyToken }: VerifyPolicy): Handshakes | undefined {
  if (verifyToken === undefined || verifyToken === '') return undefined
  return {
    methods: ['GET'],
    unsigned: false,
    answer({ method, query }) {
      if (method !== 'GET' || query['hub.mode'] !== 'subscribe') return undefined
      const challenge = query['hub.challenge']
      const given = oneText(query['hub.verify_token']) ?? ''
      if (!isSameSecret(given, verifyToken)) return emptyAnswer(403, 'the verify token is another one')
      return isEcho(challenge) ? plainAnswer(challenge, 'Meta asked for its challenge') : undefined
    },
  }
}
