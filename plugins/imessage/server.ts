/** Owns one call of the BlueBubbles server, whose password stands in the address: no address is ever shown. */

import { callVendor, type Facts, recordOf, urlBelow, type VendorAnswer } from '@reveille/kit'
import type { IMessageConfig } from './configuration.ts'
import { failureOf } from './failure.ts'

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
export type Server = (call: ServerCall) => Promise<Facts | undefined>

export function createServer({ config, fetch, now }: ServerOptions): Server {
  const password = encodeURIComponent(config.password.toWellFormed())

  return async function call({ path, body, signal, expects }) {
    const url = urlBelow(config.baseUrl, `/api/v1/${path}?password=${password}`)
    const answer = await callVendor(fetch, { url, body, signal })
    const fields = recordOf(answer.json)
    if (answer.status === 200 && fields?.['status'] === 200) return recordOf(fields['data']) ?? {}
    if (expects?.(answer)) return undefined
    const hidden = [config.password, body?.message ?? '']
    throw failureOf(answer, { delivers: body !== undefined, hidden, now: now() })
  }
}
