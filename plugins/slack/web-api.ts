/** Owns one call of Slack's Web API: the answer of a call that succeeded, or an error that says what follows. */

import { callVendor, type Facts, recordOf, urlBelow } from '@reveille/kit'
import type { SlackConfig } from './configuration.ts'
import { failureOf } from './failure.ts'

export interface WebApiOptions {
  readonly config: SlackConfig
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

type Method = 'chat.postMessage' | 'conversations.open' | 'auth.test'

/** @throws PluginError */
export type WebApi = (method: Method, body: object, signal: AbortSignal) => Promise<Facts>

export function createWebApi({ config, fetch, now }: WebApiOptions): WebApi {
  const { baseUrl, botToken } = config
  // Without the charset every answer carries a warning.
  const headers = { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' }

  return async function call(method, body, signal) {
    const delivers = method === 'chat.postMessage'
    const url = urlBelow(baseUrl, `/${method}`)
    const answer = await callVendor(fetch, { url, headers, body, signal, delivers })
    const fields = recordOf(answer.json)
    // Slack answers with the status 200 to what it refuses, too.
    if (answer.status === 200 && fields?.['ok'] === true) return fields
    throw failureOf(answer, { delivers, botToken, now: now() })
  }
}
