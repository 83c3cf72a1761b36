/** Performs one call of Gmail with a good token, and with another token if that one is refused. */

import { asRecord, type Facts, type VendorAnswer } from '@reveille/kit'
import { type Exchange, exchange } from './exchange.ts'
import { failureOf, gmailService, isFromGoogle, malformed } from './failure.ts'
import type { Tokens, TokensOptions } from './tokens.ts'

export interface CallsOptions extends Omit<TokensOptions, 'storage'> {
  readonly tokens: Tokens
}

export interface Call extends Pick<Exchange, 'url' | 'signal' | 'seconds' | 'maxBytes'> {
  /** A status that is no failure of this call: it is answered with undefined. */
  readonly absent?: number
}

export interface Calls {
  /** Performs a call. @throws PluginError; the reason of the signal */
  (call: Call & { readonly absent?: undefined }): Promise<Facts>
  (call: Call): Promise<Facts | undefined>
}

export function createCalls({ tokens, credentials, fetch, clock }: CallsOptions): Calls {
  const { account } = credentials

  function ask(token: string, { absent: _, ...request }: Call): Promise<VendorAnswer> {
    return exchange({ ...request, fetch, headers: { authorization: `Bearer ${token}` } })
  }

  async function call(request: Call): Promise<Facts | undefined> {
    const { signal, absent } = request
    const token = await tokens.valid(signal)
    let answer = await ask(token, request)
    if (answer.status === 401) {
      const otherToken = await tokens.replace(token, signal)
      answer = await ask(otherToken, request)
      // If the machine slept between the renewal and this call, the token has ended and the consent has not.
      const latestToken = answer.status === 401 ? await tokens.valid(signal) : otherToken
      if (latestToken !== otherToken) answer = await ask(latestToken, request)
    }
    if (answer.status === absent && isFromGoogle(answer)) return undefined
    if (answer.status !== 200) {
      const { redact } = tokens
      throw failureOf(answer, { account, redact, now: clock.now() })
    }
    const fields = asRecord(answer.json)
    // A proxy may pass an error on as a success, which would otherwise be read as an empty list.
    if (fields === undefined || isFromGoogle(answer))
      throw malformed(gmailService, "gave an answer that is not in Google's form")
    return fields
  }
  return call as Calls
}
