/** Parses the OAuth credentials that setup stored. */

import { asList, asNumber, asRecord, asString } from '@reveille/kit'

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

/** https://developers.google.com/identity/protocols/oauth2/scopes */
export const mailScope = 'https://www.googleapis.com/auth/gmail.readonly'

/** Returns undefined if a required field is missing. Invalid optional fields are left out. */
export function parseCredentials(value: unknown): Credentials | undefined {
  const fields = asRecord(value)
  const account = asString(fields?.['account'])
  const clientId = asString(fields?.['clientId'])
  const refreshToken = asString(fields?.['refreshToken'])
  if (!account || !clientId || !refreshToken) return undefined
  return {
    account,
    clientId,
    clientSecret: asString(fields?.['clientSecret']),
    refreshToken,
    scopes: asList(fields?.['scopes']).filter((scope) => typeof scope === 'string'),
    accessToken: asString(fields?.['accessToken']),
    accessTokenExpiresAt: asNumber(fields?.['accessTokenExpiresAt']),
  }
}
