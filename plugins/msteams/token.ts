/**
 * Gets a bot's access token, keeps it in memory and renews it before it expires.
 *
 * Source: Microsoft identity platform, client credentials.
 */

import {
  asRecord,
  callVendor,
  channelError,
  joinUrl,
  type PluginError,
  unlessAborted,
  type VendorContext,
} from '@reveille/kit'
import { tokenErrorFrom } from './errors.ts'

/** The bot's credentials for Microsoft Entra, and Entra's address. */
export interface AppCredentials {
  readonly appId: string
  readonly appPassword: string
  readonly tenantId: string
  readonly authority: string
}

const scope = 'https://api.botframework.com/.default'
/** Milliseconds before its end at which a token is renewed, or at half of its life if that is later. */
const marginMs = 300_000
/** The life in seconds of a token that does not state it. */
const usualLife = 3600

/** A request for a token that has not been answered. */
interface PendingRequest {
  readonly token: Promise<string>
  readonly abort: AbortController
  waiting: number
}

export function createTokenSource({ config, fetch, now }: VendorContext<AppCredentials>) {
  const { authority, tenantId, appId, appPassword } = config
  const url = joinUrl(authority, `/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`)
  let current: { readonly token: string; readonly until: number } | undefined
  /** The request that all callers wait for together. */
  let pending: PendingRequest | undefined

  async function ask(signal: AbortSignal): Promise<string> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: appId,
      client_secret: appPassword,
      scope,
    })
    const askedAt = now()
    const answer = await callVendor(fetch, { url, body, signal, isDelivery: false })
    const { access_token: token, expires_in: life = usualLife } = asRecord(answer.json) ?? {}
    if (answer.status !== 200 || typeof token !== 'string' || token === '')
      throw tokenErrorFrom(answer, now())
    const lifeMs = (Number(life) || usualLife) * 1000
    current = { token, until: askedAt + lifeMs - Math.min(marginMs, lifeMs / 2) }
    return token
  }

  function start(): PendingRequest {
    const abort = new AbortController()
    return { token: ask(abort.signal), abort, waiting: 0 }
  }

  /** Waits for a request until the caller aborts. The request is aborted when its last caller leaves. */
  async function wait(request: PendingRequest, signal: AbortSignal): Promise<string> {
    request.waiting += 1
    try {
      return await unlessAborted(request.token, signal)
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error
    } finally {
      request.waiting -= 1
      if (request.waiting === 0) {
        request.abort.abort()
        if (pending === request) pending = undefined
      }
    }
  }

  return {
    /** Returns a token that is still valid. @throws PluginError without `maybeDelivered` */
    async get(signal: AbortSignal): Promise<string> {
      if (signal.aborted) throw abortError(signal)
      if (current !== undefined && now() < current.until) return current.token
      pending ??= start()
      return wait(pending, signal)
    },
    /** Drops a refused token, so that the next `get` asks for another one unless that has happened already. */
    forget(token: string) {
      if (current?.token === token) current = undefined
    },
  }
}

function abortError({ reason }: AbortSignal): PluginError {
  const isTimeout = (reason as Error | undefined)?.name === 'TimeoutError'
  return isTimeout
    ? channelError('timeout', 'No token came in time.')
    : channelError('aborted', 'The call was called off.')
}
