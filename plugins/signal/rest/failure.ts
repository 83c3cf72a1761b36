/** Owns what refusals of signal-cli-rest-api mean. */

import {
  type ChannelErrorCode,
  oneLine,
  PluginError,
  type PluginErrorOptions,
  type VendorAnswer,
} from '@reveille/kit'

type Facts = Omit<PluginErrorOptions, 'code'> & { readonly code: ChannelErrorCode; readonly hint?: string }

export function failureOf({ status, json }: VendorAnswer): PluginError {
  const { error, challenge_tokens: tokens = [] } = (json ?? {}) as {
    error?: unknown
    challenge_tokens?: readonly string[]
  }
  const words = typeof error === 'string' ? oneLine(error, 200).replace(/\.$/, '') : ''
  const { hint, ...facts } = factsOf(status, words, tokens[0])
  const said = `signal-cli-rest-api answers ${status}${words === '' ? '' : `: ${words}`}.`
  return new PluginError(hint === undefined ? said : `${said} ${hint}`, facts)
}

function factsOf(status: number, words: string, token: string | undefined): Facts {
  if (status === 429) return rateLimited(token)
  if (status === 404 || status === 405) {
    return {
      code: 'unavailable',
      retryable: true,
      wholeChannel: true,
      hint: 'What answers at `baseUrl` is no signal-cli-rest-api.',
    }
  }
  if (status >= 400 && status < 500) return refused(words)
  return { code: 'unavailable', retryable: true, maybeDelivered: true }
}

function rateLimited(token: string | undefined): Facts {
  const facts = { code: 'rate-limited', retryable: true } as const
  if (typeof token !== 'string') return facts
  const hint = `Signal asks for a proof, or to wait: POST /v1/accounts/<number>/rate-limit-challenge with the token ${oneLine(token, 100)} and a captcha from signalcaptchas.org.`
  return { ...facts, wholeChannel: true, hint }
}

/** Nearly everything that fails is a 400, and only its words tell what it is; what they do not tell is final. */
function refused(words: string): Facts {
  if (/account does not exist|user .* is not registered/i.test(words)) {
    return {
      code: 'bad-credential',
      retryable: true,
      wholeChannel: true,
      hint: 'Set `account` to a number that this API has registered or linked.',
    }
  }
  if (/untrusted identit/i.test(words)) {
    return { code: 'forbidden', retryable: false, hint: 'Compare the safety number and trust it.' }
  }
  if (/unregistered|group|recipient/i.test(words)) return { code: 'bad-target', retryable: false }
  if (/IOException|network failure|timed? ?out|connection/i.test(words)) {
    return { code: 'unavailable', retryable: true, maybeDelivered: true }
  }
  return { code: 'bad-request', retryable: false }
}
