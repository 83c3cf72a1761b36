/** Owns Slack's `url_verification`: https://docs.slack.dev/reference/events/url_verification/ */

import type { Handshakes } from '../provider.ts'
import { fieldOf, isEcho, jsonAnswer } from './answers.ts'

export function createSlackHandshake(): Handshakes {
  return {
    methods: [],
    unsigned: false,
    /** Echoed to strangers, it would let anybody register the address for an app of their own. */
    answer({ isTrusted, payload }) {
      const challenge = fieldOf(payload, 'challenge')
      if (!isTrusted || fieldOf(payload, 'type') !== 'url_verification' || !isEcho(challenge))
        return undefined
      return jsonAnswer({ challenge }, 'Slack asked for its challenge')
    },
  }
}
