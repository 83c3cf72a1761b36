/** Owns waiting for a person: for a consent where there is none, and for another one where Google refuses it. */

import { hash } from 'node:crypto'
import { isPluginError, type SourceClock, type SourceStorage } from '@reveille/kit'
import { isSameMailbox } from '../account.ts'
import { hourMs, secondMs } from '../durations.ts'
import { type Credentials, parseCredentials } from '../google/credentials.ts'
import type { Problem } from './status.ts'

const checkEveryMs = 10 * secondMs
/** A refused consent may be good again without having changed: an administrator allowed it, a client was restored. */
const refusalRetryMs = hourMs

/** A consent that Google refused. */
export interface RefusedConsent {
  readonly credentials: Credentials
  /** As it was on disk when Google had refused it. */
  readonly mark: string
  readonly detail: string
}

interface AwaitOptions {
  readonly storage: SourceStorage
  readonly clock: SourceClock
  readonly account: string
  readonly problem: Problem
}

/** Resolves with what the person consented to, for this account. @throws the reason of the signal */
export async function awaitCredentials(
  { storage, clock, account, problem }: AwaitOptions,
  refused: RefusedConsent | undefined,
  signal: AbortSignal,
): Promise<Credentials> {
  for (let waitedMs = 0; ; waitedMs += checkEveryMs) {
    const found = await readCredentials(storage, account)
    if (typeof found === 'string') problem.set('waiting', found)
    else if (!refused || waitedMs >= refusalRetryMs || isChanged(found, refused)) {
      problem.clear()
      return found
    } else problem.set('waiting', refused.detail)
    await clock.sleep(checkEveryMs, signal)
  }
}

/** To be asked right after the refusal: whatever is written later may be what mends it. */
export async function refuseConsent(
  storage: SourceStorage,
  credentials: Credentials,
  { message }: Error,
): Promise<RefusedConsent> {
  const mark = digestOf(parseCredentials(await storage.read('credentials').catch(() => undefined)))
  return { credentials, mark, detail: withSetup(message) }
}

/** The access token is renewed on the way, so that a consent is known by the rest; and setup, which tries it, renews it too. */
function isChanged(found: Credentials, { credentials, mark }: RefusedConsent): boolean {
  return digestOf(found) !== mark || digestOf(consentOf(found)) !== digestOf(consentOf(credentials))
}

const damaged = withSetup('What is kept of the consent to read mail is damaged.')

/** A text is why there are none. */
async function readCredentials(storage: SourceStorage, account: string): Promise<Credentials | string> {
  let value: unknown
  try {
    value = await storage.read('credentials')
  } catch (error) {
    if (!isPluginError(error)) throw error
    return error.code === 'kept-damaged' ? damaged : error.message
  }
  if (value === undefined) return withSetup('Nobody has consented to have mail read.')
  const credentials = parseCredentials(value)
  if (!credentials) return damaged
  if (!isSameMailbox(credentials.account, account))
    return withSetup(`The consent is for another account than ${account}.`)
  return credentials
}

function consentOf({ accessToken: _token, accessTokenEnds: _ends, ...consent }: Credentials): object {
  return consent
}

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '')
}

/** The sentence, with what to run. */
export function withSetup(sentence: string): string {
  return sentence.includes('webhooks gmail setup')
    ? sentence
    : `${sentence} Run \`reveille webhooks gmail setup\`.`
}
