/** Provides access tokens that are valid by the given clock. Renews one at a time, and stores what was renewed. */

import {
  asRecord,
  compileRedaction,
  type SourceClock,
  type SourceStorage,
  unlessAborted,
} from '@reveille/kit'
import type { BaseUrls } from '../configuration.ts'
import type { Credentials } from './credentials.ts'
import { isToken, requestTokens } from './token-answer.ts'

export interface TokensOptions {
  readonly credentials: Credentials
  /** Renewed tokens are written here. */
  readonly storage: SourceStorage
  readonly baseUrls: BaseUrls
  readonly fetch: typeof globalThis.fetch
  readonly clock: SourceClock
}

/** Its methods throw PluginErrors, or the reason of the signal. */
export type Tokens = ReturnType<typeof createTokens>

/** A token that ends sooner is renewed. Milliseconds. */
const margin = 60_000

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the token, its renewal and its loss are one state
export function createTokens({ credentials, storage, baseUrls, fetch, clock }: TokensOptions) {
  const { account, clientId, clientSecret } = credentials
  let current = credentials
  /** The state of `current` on disk: the same credentials, or those from which they were renewed. */
  let written = credentials
  let writing: Promise<void> | undefined
  let renewal: Promise<string> | undefined
  let redact = redactionOf(credentials)

  function isValid(): boolean {
    const { accessToken, accessTokenExpiresAt = 0 } = current
    return isToken(accessToken) && accessTokenExpiresAt - clock.now() > margin
  }

  /** Writes the credentials. A consent that another process has stored meanwhile is newer, and stays. */
  async function write(): Promise<void> {
    const attempt = current
    const there = asRecord(await storage.read('credentials'))
    const refreshToken = there?.['refreshToken']
    if (refreshToken === undefined || refreshToken === written.refreshToken) {
      // Setup may have stored a new secret while the old one still works.
      const secret = there?.['clientSecret'] ?? clientSecret
      await storage.write('credentials', {
        ...attempt,
        ...(secret !== undefined && { clientSecret: secret }),
      })
    }
    written = attempt
  }

  function save(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined
    })
    return writing
  }

  /**
   * Tries to save. A failed write is tried again with the next call, because the call itself does not
   * need the disk.
   */
  async function trySave(): Promise<void> {
    await save().catch(() => undefined)
  }

  async function renew(): Promise<string> {
    // Google may take the old refresh token back when the new one is first used, so the new one has to be on disk by
    // then.
    if (current.refreshToken !== written.refreshToken) await save()
    const { refreshToken } = current
    // The renewal has no caller's signal: other callers wait for it too, and a new refresh token must not be lost.
    const { signal } = new AbortController()
    const { scopes: _, ...tokens } = await requestTokens({
      baseUrls,
      fetch,
      signal,
      form: {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        client_id: clientId,
        client_secret: clientSecret,
      },
      account,
      redact,
      now: clock.now(),
    })
    const renewed = { ...current, ...tokens }
    redact = redactionOf(current, renewed)
    current = renewed
    await trySave()
    return renewed.accessToken
  }

  function renewedToken(signal: AbortSignal): Promise<string> {
    renewal ??= renew().finally(() => {
      renewal = undefined
    })
    return unlessAborted(renewal, signal)
  }

  return {
    /** Removes secrets from a text. */
    redact: (text: string) => redact(text),
    /** Returns a token that is valid for a minute at least, as far as is known. */
    async valid(signal: AbortSignal): Promise<string> {
      signal.throwIfAborted()
      if (!isValid()) return renewedToken(signal)
      if (written !== current) await trySave()
      return current.accessToken as string
    },
    /** Returns another token than `refused`. */
    async replace(refused: string, signal: AbortSignal): Promise<string> {
      signal.throwIfAborted()
      const { accessToken } = current
      return accessToken === undefined || accessToken === refused ? renewedToken(signal) : accessToken
    },
  }
}

/** Redacts the tokens too that a call on its way may still use. */
function redactionOf(...all: readonly Credentials[]): (text: string) => string {
  const secrets = all.flatMap((each) => [each.refreshToken, each.accessToken, each.clientSecret])
  return compileRedaction(secrets.filter((secret) => typeof secret === 'string'))
}
