/** Waits for a person to consent: for the first time, or again after Google refused a consent. */

import { hash } from 'node:crypto'
import { isPluginError, type SourceClock, type SourceStorage } from '@reveille/kit'
import { isSameMailbox } from '../account.ts'
import { hourMs, secondMs } from '../durations.ts'
import { type Credentials, parseCredentials } from '../google/credentials.ts'
import type { Problem } from './status.ts'

const checkEveryMs = 10 * secondMs
/** An unchanged consent is tried again after this time, because an administrator may have allowed it. */
const refusalRetryMs = hourMs

/** A consent that Google refused. */
export interface RefusedConsent {
  readonly credentials: Credentials
  /** The digest of the stored consent when Google had refused it. */
  readonly mark: string
  readonly detail: string
}

interface AwaitOptions {
  readonly storage: SourceStorage
  readonly clock: SourceClock
  readonly account: string
  readonly problem: Problem
}

/** Resolves with the credentials of this account. @throws the reason of the signal */
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

/** Notes a refusal. To be called at once, because what is written later may fix it. */
export async function refuseConsent(
  storage: SourceStorage,
  credentials: Credentials,
  { message }: Error,
): Promise<RefusedConsent> {
  const mark = digestOf(parseCredentials(await storage.read('credentials').catch(() => undefined)))
  return { credentials, mark, detail: withSetup(message) }
}

/** Compares consents without access tokens, which the source and setup renew on the way. */
function isChanged(found: Credentials, { credentials, mark }: RefusedConsent): boolean {
  return digestOf(found) !== mark || digestOf(consentOf(found)) !== digestOf(consentOf(credentials))
}

const damaged = withSetup('The stored consent to read mail is damaged.')

/** Returns the credentials, or a sentence that says why there are none. */
async function readCredentials(storage: SourceStorage, account: string): Promise<Credentials | string> {
  let value: unknown
  try {
    value = await storage.read('credentials')
  } catch (error) {
    if (!isPluginError(error)) throw error
    return error.code === 'kept-damaged' ? damaged : error.message
  }
  if (value === undefined) return withSetup('There is no consent to read mail.')
  const credentials = parseCredentials(value)
  if (!credentials) return damaged
  if (!isSameMailbox(credentials.account, account))
    return withSetup(`The consent is for another account than ${account}.`)
  return credentials
}

function consentOf({ accessToken: _token, accessTokenExpiresAt: _ends, ...consent }: Credentials): object {
  return consent
}

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '')
}

/** Adds the command to run to a sentence. */
function withSetup(sentence: string): string {
  return sentence.includes('webhooks gmail setup')
    ? sentence
    : `${sentence} Run \`reveille webhooks gmail setup\`.`
}
