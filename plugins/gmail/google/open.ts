/** Owns putting the room together. Whoever imports it loads Google's libraries. */

import { createCalls } from './calls.ts'
import { createGmailPort } from './gmail.ts'
import type { Google, GoogleOptions } from './index.ts'
import { createPubSubPort } from './pubsub.ts'
import { createTokens } from './tokens.ts'

export function open(options: GoogleOptions): Google {
  const { baseUrls } = options
  const call = createCalls({ ...options, tokens: createTokens(options) })
  return { gmail: createGmailPort(call, baseUrls.gmail), pubsub: createPubSubPort(call, baseUrls.pubsub) }
}
