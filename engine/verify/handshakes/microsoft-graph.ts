/** Owns Microsoft Graph's `validationToken`: https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks#notificationurl-validation */

import type { Handshakes } from '../provider.ts'
import { isEcho, plainAnswer } from './answers.ts'

export function createMicrosoftGraphHandshake(): Handshakes {
  return {
    methods: [],
    unsigned: true,
    /** The decoded text as it is: as plain text, markup in it is none. */
    answer({ method, query }) {
      const validationToken = query['validationToken']
      if (method !== 'POST' || !isEcho(validationToken)) return undefined
      return plainAnswer(validationToken, 'Microsoft Graph asked for its validation token')
    },
  }
}
