/** Owns monday.com's challenge, which it does not sign: https://developer.monday.com/api-reference/reference/webhooks */

import type { Handshakes } from '../provider.ts'
import { isEcho, jsonAnswer, onlyFieldOf } from './answers.ts'

export function createMondayHandshake(): Handshakes {
  return {
    methods: [],
    unsigned: true,
    answer({ method, payload }) {
      const challenge = onlyFieldOf(payload, 'challenge')
      if (method !== 'POST' || !isEcho(challenge)) return undefined
      return jsonAnswer({ challenge }, 'monday.com asked for its challenge')
    },
  }
}
