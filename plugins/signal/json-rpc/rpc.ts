/** Owns calls of the daemon's JSON-RPC over HTTP (signal-cli, man page `signal-cli-jsonrpc`). */

import { callVendor, listOf, numberOf, recordOf, textOf, urlBelow, type VendorAnswer } from '@reveille/kit'
import type { DaemonOptions } from '../daemon.ts'

export interface RpcRequest {
  readonly id: string
  readonly method: string
  readonly params?: object
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly response: SendResponse
}

/** What `send` says of each recipient; of a group, of each member. */
export interface SendResult {
  readonly type: string
  /** Their number, name or UUID. */
  readonly recipient: string
  /** Of the proof that Signal asks for before anything else is sent. */
  readonly token: string | undefined
  /** Seconds. */
  readonly retryAfterSeconds: number | undefined
}

export interface SendResponse {
  /** Milliseconds since the Unix epoch; it is the message's id too. */
  readonly timestamp: number | undefined
  readonly results: readonly SendResult[]
}

/** Both are undefined in what is no answer of JSON-RPC. */
export interface RpcAnswer {
  readonly http: VendorAnswer
  readonly result?: unknown
  readonly error?: RpcError
}

/** Whatever the daemon says is answered. @throws PluginError where it says nothing */
export async function callRpc(
  { config, fetch }: DaemonOptions,
  request: RpcRequest,
  signal: AbortSignal,
): Promise<RpcAnswer> {
  const http = await callVendor(fetch, {
    url: urlBelow(config.baseUrl, '/api/v1/rpc'),
    // Without a character set, which JSON has no need of: to other types than this one the daemon answers 415.
    headers: { 'content-type': 'application/json' },
    body: { jsonrpc: '2.0', ...request },
    signal,
  })
  const { result, error } = recordOf(http.json) ?? {}
  const { code, message, data } = recordOf(error) ?? {}
  if (typeof code !== 'number') return { http, result }
  const { response } = recordOf(data) ?? {}
  return { http, error: { code, message: textOf(message) ?? '', response: responseOf(response) } }
}

/** What `send` answers, as `result` or within an error. */
export function responseOf(value: unknown): SendResponse {
  const { timestamp, results } = recordOf(value) ?? {}
  return { timestamp: numberOf(timestamp), results: listOf(results).map(resultOf) }
}

function resultOf(value: unknown): SendResult {
  const { type, recipientAddress, token, retryAfterSeconds } = recordOf(value) ?? {}
  const { number, uuid, username } = recordOf(recipientAddress) ?? {}
  return {
    type: textOf(type) ?? 'no result',
    recipient: textOf(number) ?? textOf(username) ?? textOf(uuid) ?? 'unknown',
    token: textOf(token),
    retryAfterSeconds: Number(numberOf(retryAfterSeconds)) >= 0 ? numberOf(retryAfterSeconds) : undefined,
  }
}
