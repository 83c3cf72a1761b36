/** Opens Google with what a person consented to. Importing this file loads Google's libraries. */

import type { SourceStorage } from '@reveille/kit'
import { type CallsOptions, createCalls } from './calls.ts'
import { createGmailPort } from './gmail.ts'
import type { Google } from './port.ts'
import { createPubSubPort } from './pubsub.ts'
import { createTokens } from './tokens.ts'

export interface GoogleOptions extends Omit<CallsOptions, 'tokens'> {
  /** Renewed tokens are written here. */
  readonly storage: SourceStorage
}

export function openGoogle(options: GoogleOptions): Google {
  const { baseUrls } = options
  const call = createCalls({ ...options, tokens: createTokens(options) })
  return { gmail: createGmailPort(call, baseUrls.gmail), pubsub: createPubSubPort(call, baseUrls.pubsub) }
}
