/** Owns what refusals of signal-cli-rest-api mean. */

import {
  type ChannelErrorCode,
  channelError,
  foreignAnswer,
  oneLine,
  type PluginError,
  recordOf,
  type VendorAnswer,
} from '@reveille/kit'

interface Meaning {
  readonly code: ChannelErrorCode
  readonly maybeDelivered?: boolean
  readonly wholeChannel?: boolean
  /** A sentence: what the operator can do. */
  readonly hint?: string
}

/** All that this API refuses has an `error`. */
export function failureOf(answer: VendorAnswer, now: number, delivers = true): PluginError {
  const { status, json } = answer
  const { error, challenge_tokens: tokens } = recordOf(json) ?? {}
  if (typeof error !== 'string') {
    return foreignAnswer(answer, { vendor: 'signal-cli-rest-api', delivers, now })
  }
  const words = oneLine(error, 200).replace(/\.$/, '')
  const token = Array.isArray(tokens) ? tokens[0] : undefined
  const { code, hint, ...facts } = meaningOf(status, words, token)
  const said = `signal-cli-rest-api answers ${status}${words === '' ? '' : `: ${words}`}.`
  return channelError(code, hint === undefined ? said : `${said} ${hint}`, facts)
}

function meaningOf(status: number, words: string, token: unknown): Meaning {
  if (status === 429) return rateLimited(token)
  if (status >= 400 && status < 500) return refused(words)
  return unsure
}

const unsure: Meaning = { code: 'unavailable', maybeDelivered: true }

function rateLimited(token: unknown): Meaning {
  if (typeof token !== 'string') return { code: 'rate-limited' }
  const hint = `Signal asks for a proof, or to wait: POST /v1/accounts/<number>/rate-limit-challenge with the token ${oneLine(token, 100)} and a captcha from signalcaptchas.org.`
  return { code: 'rate-limited', wholeChannel: true, hint }
}

/** Nearly everything that fails is a 400, and only its words tell what it is; what they do not tell is final. */
function refused(words: string): Meaning {
  if (/account does not exist|user .* is not registered/i.test(words)) {
    const hint = 'Set `account` to a number that this API has registered or linked.'
    return { code: 'bad-credential', hint }
  }
  if (/untrusted identit/i.test(words)) {
    return { code: 'forbidden', hint: 'Compare the safety number and trust it.' }
  }
  if (/unregistered|group|recipient/i.test(words)) return { code: 'bad-target' }
  return /IOException|network failure|timed? ?out|connection/i.test(words) ? unsure : { code: 'bad-request' }
}
