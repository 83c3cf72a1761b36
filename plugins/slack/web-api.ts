/** Owns one call of Slack's Web API: the answer of a call that succeeded, or an error that says what follows. */

import { callVendor, isPluginError, PluginError, type VendorAnswer } from '@reveille/kit'
import type { SlackConfig } from './configuration.ts'
import { refusalOf } from './failure.ts'

export interface WebApiOptions {
  readonly config: SlackConfig
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

type Method = 'chat.postMessage' | 'conversations.open' | 'auth.test'

/** @throws PluginError */
export type WebApi = (method: Method, body: object, signal: AbortSignal) => Promise<Record<string, unknown>>

export function createWebApi({ config, fetch, now }: WebApiOptions): WebApi {
  const { botToken } = config
  const base = config.baseUrl.replace(/\/+$/, '')
  // Without the charset every answer carries a warning.
  const headers = { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' }

  return async function call(method, body, signal) {
    const sends = method === 'chat.postMessage'
    const answer = await callVendor(fetch, { url: `${base}/${method}`, headers, body, signal }).catch(
      (error) => {
        throw sends ? error : withoutDoubt(error)
      },
    )
    if (isOk(answer)) return answer.json
    throw refusalOf(answer, { sends, botToken, now: now() })
  }
}

/** Slack answers with the status 200 to what it refuses, too. */
function isOk(answer: VendorAnswer): answer is VendorAnswer & { json: Record<string, unknown> } {
  const { status, json } = answer
  return status === 200 && typeof json === 'object' && json !== null && 'ok' in json && json.ok === true
}

/** A call that stores no message can have delivered none, however it ended. */
function withoutDoubt(error: unknown): unknown {
  if (!isPluginError(error) || !error.maybeDelivered) return error
  const { code, retryable, retryAfter, cause } = error
  return new PluginError(error.message, {
    code,
    retryable,
    cause,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}
