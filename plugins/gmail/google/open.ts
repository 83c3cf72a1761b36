/** Opens Google with what a person consented to. */

import { createCalls } from './calls.ts'
import { createGmailPort } from './gmail.ts'
import type { Google } from './port.ts'
import { createPubSubPort } from './pubsub.ts'
import { createTokens, type TokensOptions } from './tokens.ts'

export function openGoogle(options: TokensOptions): Google {
  const { baseUrls } = options
  const call = createCalls({ ...options, tokens: createTokens(options) })
  return { gmail: createGmailPort(call, baseUrls.gmail), pubsub: createPubSubPort(call, baseUrls.pubsub) }
}
