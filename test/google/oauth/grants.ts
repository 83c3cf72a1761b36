/** Keeps what people consented to, with the codes and tokens of each consent. */

import { createHash, randomBytes } from 'node:crypto'
import type { GoogleClock } from '../clock.ts'

export interface OAuthClient {
  readonly id: string
  readonly secret: string
  readonly project: string
}

/** What one person allowed the client. */
export interface Grant {
  readonly account: string
  scopes: readonly string[]
  /** The requested scopes that the person left out. */
  isPartial: boolean
  isRevoked: boolean
}

export interface AccessToken {
  readonly text: string
  readonly grant: Grant
  readonly scopes: readonly string[]
  endsAt: number
}

export interface RefreshToken {
  readonly text: string
  readonly grant: Grant
}

export interface CodeRequest {
  readonly redirectUri: string
  readonly challenge: string
  readonly challengeMethod: 'S256' | 'plain'
  readonly isOffline: boolean
  /** Whether the consent page was shown although a consent existed. */
  readonly isForced: boolean
}

interface Code extends CodeRequest {
  readonly grant: Grant
  readonly isFirst: boolean
  readonly endsAt: number
  isUsed: boolean
}

/** https://developers.google.com/identity/protocols/oauth2/native-app#exchange-authorization-code answers `expires_in` so. */
export const accessTokenSeconds = 3_600
/** RFC 6749, 4.1.2, recommends ten minutes at most. */
const codeMinutes = 10

export type Grants = ReturnType<typeof createGrants>

export function createGrants(clock: GoogleClock) {
  const grants = new Map<string, Grant>()
  const codes = new Map<string, Code>()
  const refreshTokens = new Map<string, RefreshToken>()
  const accessTokens = new Map<string, AccessToken>()

  return {
    /** Records a consent as a person gives it. Earlier scopes stay only if they are asked for again. */
    consent(account: string, scopes: readonly string[], isPartial: boolean) {
      const before = grants.get(account)
      const isFirst = before === undefined || before.isRevoked
      const grant = isFirst ? { account, scopes, isPartial, isRevoked: false } : before
      grant.scopes = scopes
      grant.isPartial = isPartial
      grants.set(account, grant)
      return { grant, isFirst }
    },

    issueCode(grant: Grant, isFirst: boolean, request: CodeRequest): string {
      const text = `4/0A${randomBytes(24).toString('base64url')}`
      const endsAt = clock.now() + codeMinutes * 60_000
      codes.set(text, { ...request, grant, isFirst, endsAt, isUsed: false })
      return text
    },

    code(text: string): Code | undefined {
      return codes.get(text)
    },

    issueRefreshToken(grant: Grant): RefreshToken {
      const token = { text: `1//0${randomBytes(32).toString('base64url')}`, grant }
      refreshTokens.set(token.text, token)
      return token
    },

    issueAccessToken(grant: Grant): AccessToken {
      const text = `ya29.${randomBytes(40).toString('base64url')}`
      const endsAt = clock.now() + accessTokenSeconds * 1000
      const token = { text, grant, scopes: grant.scopes, endsAt }
      accessTokens.set(text, token)
      return token
    },

    refreshToken(text: string): RefreshToken | undefined {
      return refreshTokens.get(text)
    },

    accessToken(text: string): AccessToken | undefined {
      return accessTokens.get(text)
    },

    expireAccessTokens(): void {
      for (const token of accessTokens.values()) token.endsAt = Number.NEGATIVE_INFINITY
    },

    revoke(grant: Grant): void {
      grant.isRevoked = true
    },

    revokeAll(): void {
      for (const grant of grants.values()) grant.isRevoked = true
    },
  }
}

/** RFC 7636, 4.6. */
export function provesChallenge(verifier: string, { challenge, challengeMethod }: CodeRequest): boolean {
  if (challengeMethod === 'plain') return verifier === challenge
  return createHash('sha256').update(verifier, 'ascii').digest('base64url') === challenge
}
