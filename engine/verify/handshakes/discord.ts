/**
 * Owns Discord's two PINGs: of interactions, https://docs.discord.com/developers/interactions/overview, and of webhook
 * events, https://docs.discord.com/developers/events/webhook-events.
 */

import type { Handshakes } from '../provider.ts'
import { emptyAnswer, fieldOf, jsonAnswer } from './answers.ts'

export function createDiscordHandshake(): Handshakes {
  return {
    methods: [],
    unsigned: false,
    /** Discord signs PINGs badly on purpose, and wants those refused. */
    answer({ isTrusted, payload }) {
      // A webhook event is of type 1 too, which of interactions is the PING.
      if (!isTrusted || fieldOf(payload, 'event') !== undefined) return undefined
      switch (fieldOf(payload, 'type')) {
        case 0:
          return emptyAnswer(204, 'Discord asked for a PING of webhook events to be answered')
        case 1:
          return jsonAnswer({ type: 1 }, 'Discord asked for a PING of interactions to be answered')
        default:
          return undefined
      }
    },
  }
}
