/** Owns how Intercom looks whether somebody is there: https://developers.intercom.com/docs/webhooks/setting-up-webhooks */

import type { Handshakes } from '../provider.ts'
import { emptyAnswer, fieldOf } from './answers.ts'

export function createIntercomHandshake(): Handshakes {
  return {
    methods: ['HEAD'],
    unsigned: false,
    answer({ method, isTrusted, payload }) {
      if (method === 'HEAD') return emptyAnswer(200, 'Intercom looked whether somebody is there')
      if (!isTrusted || fieldOf(payload, 'topic') !== 'ping') return undefined
      return emptyAnswer(200, 'Intercom asked for a ping to be answered')
    },
  }
}
