/**
 * Waits for a person's consent. Google's answer comes to the loopback address, or is pasted where no browser reaches
 * it.
 */

import { type ConnectCall, permanentError, unlessAborted } from '@reveille/kit'
import { minuteMs } from '../durations.ts'
import { hasCode } from './failure.ts'
import type { Answer, Loopback } from './loopback.ts'
import { readPasted } from './redirect.ts'

export interface CodeRequest<Value> {
  readonly call: Pick<ConnectCall, 'person' | 'clock' | 'signal'>
  readonly url: string
  readonly state: string
  readonly loopback: Loopback
  /** Exchanges the code for tokens. @throws PluginError `bad-code`: another code may be good */
  redeem(code: string, signal: AbortSignal): Promise<Value>
}

const limitMinutes = 10
/** A person who pastes other things is not asked without end. */
const maxPastes = 10

/** @throws PluginError `consent-timeout`, `consent-denied`, `consent-failed`; the reason of the call's signal */
export async function awaitCode<Value>(request: CodeRequest<Value>): Promise<Value> {
  const { call, url, state, loopback } = request
  const over = new AbortController()
  const signal = AbortSignal.any([call.signal, over.signal])
  const redeem = onceAtATime(async (code) => {
    signal.throwIfAborted()
    return request.redeem(code, signal)
  })

  async function whenRedirected(): Promise<Value> {
    return redeem(codeOf(await loopback.answered))
  }

  async function whenPasted(): Promise<Value> {
    await call.person.show(url)
    const ask = `If the browser ends on a page that cannot be reached, paste its address here (it begins with ${loopback.redirectUri})`
    let question = ask
    for (let left = maxPastes; left > 0; left -= 1) {
      const answer = readPasted(await call.person.ask(question, signal), state)
      if ('mistake' in answer) {
        question = `${mistakes[answer.mistake]} ${ask}`
        continue
      }
      try {
        return await redeem(codeOf(answer))
      } catch (error) {
        if (!hasCode(error, 'bad-code')) throw error
        question = `Google does not know that code: it may be incomplete or used. ${ask}`
      }
    }
    throw permanentError('consent-failed', `None of ${maxPastes} answers was Google's. Run the setup again.`)
  }

  async function whenLate(): Promise<never> {
    await call.clock.sleep(limitMinutes * minuteMs, signal)
    throw permanentError(
      'consent-timeout',
      `No consent came within ${limitMinutes} minutes. Run the setup again, and open the address that it shows in a browser.`,
    )
  }

  try {
    return await unlessAborted(Promise.race([whenRedirected(), whenPasted(), whenLate()]), signal)
  } finally {
    over.abort()
  }
}

const mistakes = {
  'other-state': 'That is the answer to another run of the setup.',
  'no-answer': 'That holds no code of Google.',
} as const

function codeOf(answer: Answer): string {
  if ('code' in answer) return answer.code
  // https://developers.google.com/identity/protocols/oauth2/native-app#handlingresponse
  if (answer.error === 'access_denied')
    throw permanentError(
      'consent-denied',
      'The consent was denied, in the browser or by Google: an app whose publishing status is Testing has to name the account among its test users. Run the setup again and choose "Allow".',
    )
  throw permanentError(
    'consent-failed',
    `Google gave no consent (${answer.error}). Look at the OAuth client and its consent screen at https://console.cloud.google.com/auth/overview, and run the setup again.`,
  )
}

/** Redeems a code that comes both ways only once, because Google takes a second use for theft. */
function onceAtATime<Value>(redeem: (code: string) => Promise<Value>): (code: string) => Promise<Value> {
  let underway: Promise<Value> | undefined
  return async (code) => {
    underway ??= redeem(code).finally(() => {
      underway = undefined
    })
    return underway
  }
}
