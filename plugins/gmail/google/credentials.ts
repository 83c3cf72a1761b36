/** Reads the credentials that are stored of a person's consent. */

import { listOf, numberOf, recordOf, textOf } from '@reveille/kit'

/** The credentials, stored as `credentials`. All of them but the account are secret. */
export interface Credentials {
  readonly account: string
  readonly clientId: string
  readonly clientSecret?: string
  readonly refreshToken: string
  readonly scopes: readonly string[]
  /** The last access token, and when it ends, in milliseconds since the Unix epoch. */
  readonly accessToken?: string
  readonly accessTokenExpiresAt?: number
}

/** To read mail, and to make and read topics and subscriptions. https://developers.google.com/identity/protocols/oauth2/scopes */
export const scopes = [
  'https://www.googleapis.com/auth/gmail.readonly',
  'https://www.googleapis.com/auth/pubsub',
] as const

/** Returns undefined if the consent could not be used. Parts that are not understood are left out. */
export function parseCredentials(value: unknown): Credentials | undefined {
  const facts = recordOf(value)
  const account = textOf(facts?.['account'])
  const clientId = textOf(facts?.['clientId'])
  const refreshToken = textOf(facts?.['refreshToken'])
  if (!account || !clientId || !refreshToken) return undefined
  return {
    account,
    clientId,
    clientSecret: textOf(facts?.['clientSecret']),
    refreshToken,
    scopes: listOf(facts?.['scopes']).filter((scope) => typeof scope === 'string'),
    accessToken: textOf(facts?.['accessToken']),
    accessTokenExpiresAt: numberOf(facts?.['accessTokenEnds']),
  }
}
