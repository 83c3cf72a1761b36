/** Owns what is kept of a person's consent. */

/** Kept as `credentials`. Secret, all but the account. */
export interface Credentials {
  readonly account: string
  readonly clientId: string
  readonly clientSecret?: string
  readonly refreshToken: string
  readonly scopes: readonly string[]
  /** The last one, with when it ends, in milliseconds since the Unix epoch. */
  readonly accessToken?: string
  readonly accessTokenEnds?: number
}

/** To read mail, and to make and read topics and subscriptions. https://developers.google.com/identity/protocols/oauth2/scopes */
export const scopes = [
  'https://www.googleapis.com/auth/gmail.readonly',
  'https://www.googleapis.com/auth/pubsub',
] as const
