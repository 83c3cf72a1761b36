/** Obtains a person's consent: the stored one if it is good, else a new one. */

import { randomBytes } from 'node:crypto'
import { type ConnectCall, permanentError, type SourceStorage } from '@reveille/kit'
import { isSameMailbox } from '../account.ts'
import type { BaseUrls } from '../configuration.ts'
import { authorizationUrl, exchange, newVerifier } from '../google/consent.ts'
import { type Credentials, mailScope, parseCredentials } from '../google/credentials.ts'
import { openGmail } from '../google/open.ts'
import type { Gmail } from '../google/port.ts'
import { ask } from './asking.ts'
import { awaitCode } from './await-code.ts'
import { type Client, readStored } from './client.ts'
import { hasCode } from './failure.ts'
import { openLoopback } from './loopback.ts'

export interface ConsentOptions {
  readonly call: ConnectCall
  readonly client: Client
  readonly baseUrls: BaseUrls
  /** The account that has to consent. Absent: any account. */
  readonly account?: string
  /** Asks for a new consent even if the stored one is good. */
  readonly again: boolean
}

export interface Consent {
  readonly gmail: Gmail
  readonly account: string
}

/** Obtains a consent. It is stored at once, so that a later failure costs no second consent. */
export async function obtainConsent(options: ConsentOptions): Promise<Consent> {
  const earlier = options.again ? undefined : await earlierConsent(options)
  const { call } = options
  if (earlier !== undefined) {
    call.report({
      step: 'consent',
      outcome: 'unchanged',
      detail: `${earlier.account} has given its consent before.`,
    })
    return earlier
  }
  const credentials = await newConsent(options)
  await call.storage.write('credentials', credentials)
  const { account } = credentials
  call.report({
    step: 'consent',
    outcome: 'done',
    detail: `${account} lets its mail be read.`,
  })
  return { gmail: open(options, credentials), account }
}

/** Returns undefined if a person has to be asked. @throws PluginError if asking a person would not help */
async function earlierConsent(options: ConsentOptions): Promise<Consent | undefined> {
  const { call, client, account } = options
  const stored = await readCredentials(call.storage)
  if (stored === undefined || stored.clientId !== client.id) return undefined
  if (account !== undefined && !isSameMailbox(account, stored.account)) return undefined
  if (!stored.scopes.includes(mailScope)) return undefined

  // A replaced secret is tried at once: the access token of before would hide that the secret is wrong.
  const isReplaced = client.secret !== undefined && client.secret !== stored.clientSecret
  const credentials = isReplaced
    ? { ...stored, clientSecret: client.secret, accessToken: undefined, accessTokenExpiresAt: undefined }
    : stored
  const gmail = open(options, credentials)
  try {
    const profile = await ask(call, () => gmail.profile(call.signal))
    if (!isSameMailbox(profile.emailAddress, stored.account)) return undefined
    if (isReplaced) {
      const renewed = (await readCredentials(call.storage)) ?? stored
      await call.storage.write('credentials', { ...renewed, clientSecret: client.secret })
    }
    return { gmail, account: profile.emailAddress }
  } catch (error) {
    if (hasCode(error, 'consent-revoked', 'missing-scope')) return undefined
    throw error
  }
}

async function newConsent(options: ConsentOptions): Promise<Credentials> {
  const { call, client, baseUrls, account } = options
  const state = randomBytes(32).toString('base64url')
  const { verifier, challenge } = newVerifier()
  const loopback = await openLoopback(state)
  try {
    const { redirectUri } = loopback
    const url = authorizationUrl({
      clientId: client.id,
      baseUrls,
      redirectUri,
      state,
      challenge,
      loginHint: account,
    })
    const { fetch, clock } = call
    const grant = await awaitCode({
      call,
      url,
      state,
      loopback,
      redeem: (code, signal) =>
        exchange({ client, code, verifier, redirectUri, baseUrls, fetch, clock, signal }),
    })
    refuseWithoutMail(grant.scopes)
    const credentials = { clientId: client.id, clientSecret: client.secret, ...grant }
    return {
      account: await findAccount(options, { account: account ?? '', ...credentials }),
      ...credentials,
    }
  } finally {
    await loopback.close()
  }
}

/** People may untick the box. https://developers.google.com/identity/protocols/oauth2/resources/granular-permissions */
function refuseWithoutMail(granted: readonly string[]): void {
  if (granted.includes(mailScope)) return
  throw permanentError(
    'missing-scope',
    'The consent does not cover reading mail. Run the setup again and tick "View your email messages and settings" on Google\'s page.',
  )
}

async function findAccount(options: ConsentOptions, credentials: Credentials): Promise<string> {
  const { call, account } = options
  const gmail = open({ ...options, call: { ...call, storage: noStorage } }, credentials)
  const { emailAddress } = await ask(call, () => gmail.profile(call.signal))
  if (account === undefined || isSameMailbox(account, emailAddress)) return emailAddress
  throw permanentError(
    'other-account',
    `${emailAddress} consented, and ${account} was asked for. Run the setup again and choose ${account} on Google's page, or pass --account ${emailAddress}.`,
  )
}

function open({ call, baseUrls }: ConsentOptions, credentials: Credentials): Gmail {
  const { storage, fetch, clock } = call
  return openGmail({ credentials, storage, baseUrls, fetch, clock })
}

/** Stores nothing, because it is not yet known whose consent it is. */
const noStorage: SourceStorage = { read: async () => undefined, write: async () => {} }

/** Returns undefined if no credentials are stored that could be used. */
async function readCredentials(storage: SourceStorage): Promise<Credentials | undefined> {
  return parseCredentials(await readStored(storage, 'credentials'))
}
