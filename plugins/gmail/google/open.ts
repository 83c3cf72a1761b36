/** Opens Gmail with what a person consented to. */

import { createCalls } from './calls.ts'
import { createGmailPort } from './gmail.ts'
import type { Gmail } from './port.ts'
import { createTokens, type TokensOptions } from './tokens.ts'

export function openGmail(options: TokensOptions): Gmail {
  const call = createCalls({ ...options, tokens: createTokens(options) })
  return createGmailPort(call, options.baseUrls.gmail)
}
