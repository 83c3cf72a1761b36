/** Owns the bot's token: asked for once, kept in memory, renewed before its end. Source: Microsoft identity platform, client credentials. */

import { callVendor, channelError, type PluginError, recordOf, urlBelow } from '@reveille/kit'
import type { TeamsConfig } from './configuration.ts'
import { tokenFailureOf } from './failure.ts'

export interface TokenOptions {
  readonly config: TeamsConfig
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

export interface TokenSource {
  /** One that lasts. @throws PluginError that says of nothing that it may have been delivered */
  get(signal: AbortSignal): Promise<string>
  /** It was refused: the next `get` asks for another one, unless somebody has done so already. */
  forget(token: string): void
}

const scope = 'https://api.botframework.com/.default'
/** Renewed this long before its end, or at half of its life where that is sooner. Milliseconds. */
const marginMs = 300_000
/** Of a token that does not say. Seconds. */
const usualLife = 3600

interface UnderWay {
  readonly token: Promise<string>
  readonly abort: AbortController
  waiting: number
}

export function createTokenSource({ config, fetch, now }: TokenOptions): TokenSource {
  const { authority, tenantId, appId, appPassword } = config
  const url = urlBelow(authority, `/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`)
  let kept: { readonly token: string; readonly until: number } | undefined
  /** All who need a token while one is asked for wait for the same answer. */
  let underWay: UnderWay | undefined

  async function ask(signal: AbortSignal): Promise<string> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: appId,
      client_secret: appPassword,
      scope,
    })
    const askedAt = now()
    const answer = await callVendor(fetch, { url, body, signal, delivers: false })
    const { access_token: token, expires_in: life = usualLife } = recordOf(answer.json) ?? {}
    if (answer.status !== 200 || typeof token !== 'string' || token === '')
      throw tokenFailureOf(answer, now())
    const lifeMs = (Number(life) || usualLife) * 1000
    kept = { token, until: askedAt + lifeMs - Math.min(marginMs, lifeMs / 2) }
    return token
  }

  function start(): UnderWay {
    const abort = new AbortController()
    return { token: ask(abort.signal), abort, waiting: 0 }
  }

  /** Who is called off leaves alone; the last to leave ends the request. */
  async function wait(request: UnderWay, signal: AbortSignal): Promise<string> {
    const left = Promise.withResolvers<never>()
    const leave = () => left.reject(calledOff(signal))
    signal.addEventListener('abort', leave, { once: true })
    request.waiting += 1
    try {
      return await Promise.race([request.token, left.promise])
    } finally {
      signal.removeEventListener('abort', leave)
      request.waiting -= 1
      if (request.waiting === 0) {
        request.abort.abort()
        if (underWay === request) underWay = undefined
      }
    }
  }

  return {
    async get(signal) {
      if (signal.aborted) throw calledOff(signal)
      if (kept !== undefined && now() < kept.until) return kept.token
      underWay ??= start()
      return wait(underWay, signal)
    },
    forget(token) {
      if (kept?.token === token) kept = undefined
    },
  }
}

function calledOff({ reason }: AbortSignal): PluginError {
  const isTimeout = (reason as Error | undefined)?.name === 'TimeoutError'
  return isTimeout
    ? channelError('timeout', 'No token came in time.')
    : channelError('aborted', 'The call was called off.')
}
