/** Parses the OAuth credentials that setup stored. */

import { listOf, numberOf, recordOf, textOf } from '@reveille/kit'

/** The credentials, stored as `credentials`. All of them but the account are secret. */
export interface Credentials {
  readonly account: string
  readonly clientId: string
  readonly clientSecret?: string
  readonly refreshToken: string
  readonly scopes: readonly string[]
  /** The last access token, and when it expires, in milliseconds since the Unix epoch. */
  readonly accessToken?: string
  readonly accessTokenExpiresAt?: number
}

/** For reading mail, and for creating and reading topics and subscriptions. https://developers.google.com/identity/protocols/oauth2/scopes */
export const scopes = [
  'https://www.googleapis.com/auth/gmail.readonly',
  'https://www.googleapis.com/auth/pubsub',
] as const

/** Returns undefined if a required field is missing. Invalid optional fields are left out. */
export function parseCredentials(value: unknown): Credentials | undefined {
  const fields = recordOf(value)
  const account = textOf(fields?.['account'])
  const clientId = textOf(fields?.['clientId'])
  const refreshToken = textOf(fields?.['refreshToken'])
  if (!account || !clientId || !refreshToken) return undefined
  return {
    account,
    clientId,
    clientSecret: textOf(fields?.['clientSecret']),
    refreshToken,
    scopes: listOf(fields?.['scopes']).filter((scope) => typeof scope === 'string'),
    accessToken: textOf(fields?.['accessToken']),
    accessTokenExpiresAt: numberOf(fields?.['accessTokenExpiresAt']),
  }
}
