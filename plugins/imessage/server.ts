/** Owns one call of the BlueBubbles server, whose password stands in the address: no address is ever shown. */

import { callVendor, isPluginError, PluginError, type VendorAnswer } from '@reveille/kit'
import type { IMessageConfig } from './configuration.ts'
import { refusalOf } from './failure.ts'

export interface ServerOptions {
  readonly config: IMessageConfig
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

export interface ServerCall {
  /** Below `/api/v1/`, its parts encoded. */
  readonly path: string
  /** Absent: the call only asks. */
  readonly body?: { readonly message: string; readonly [field: string]: unknown }
  readonly signal: AbortSignal
  /** Refusals that the caller sees to; then undefined is answered. */
  readonly expects?: (answer: VendorAnswer) => boolean
}

/** Answers the `data` of a good answer. @throws PluginError */
export type Server = (call: ServerCall) => Promise<Readonly<Record<string, unknown>> | undefined>

export function createServer({ config, fetch, now }: ServerOptions): Server {
  const base = config.baseUrl.replace(/\/+$/, '')
  const password = encodeURIComponent(config.password.toWellFormed())

  return async function call({ path, body, signal, expects }) {
    const sends = body !== undefined
    const request = { url: `${base}/api/v1/${path}?password=${password}`, signal, ...(sends && { body }) }
    const answer = await callVendor(fetch, request).catch((error: unknown) => {
      throw sends ? error : withoutDoubt(error)
    })
    const { status, json } = answer
    if (status === 200 && isAnswer(json))
      return typeof json.data === 'object' && json.data !== null ? (json.data as Record<string, unknown>) : {}
    if (expects?.(answer)) return undefined
    throw refusalOf(answer, { sends, hidden: [config.password, body?.message ?? ''], now: now() })
  }
}

function isAnswer(json: unknown): json is { readonly status: 200; readonly data?: unknown } {
  return typeof json === 'object' && json !== null && 'status' in json && json.status === 200
}

/** A call that only asks can have delivered nothing, however it ended. */
function withoutDoubt(error: unknown): unknown {
  if (!isPluginError(error) || !error.maybeDelivered) return error
  const { code, retryable, cause } = error
  return new PluginError(error.message, { code, retryable, cause })
}
