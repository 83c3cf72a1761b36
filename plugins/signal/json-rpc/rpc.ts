/** Owns calls of the daemon's JSON-RPC over HTTP (signal-cli, man page `signal-cli-jsonrpc`). */

import { callVendor, urlBelow, type VendorAnswer } from '@reveille/kit'
import type { DaemonOptions } from '../daemon.ts'

export interface RpcRequest {
  readonly id: string
  readonly method: string
  readonly params?: object
}

export interface RpcError {
  readonly code: number
  readonly message?: string
  readonly data?: { readonly response?: SendResponse } | null
}

/** What `send` says of each recipient; of a group, of each member. */
export interface SendResult {
  readonly type?: string
  readonly recipientAddress?: {
    readonly uuid?: string | null
    readonly number?: string | null
    readonly username?: string | null
  }
  /** Of the proof that Signal asks for before anything else is sent. */
  readonly token?: string
  /** Seconds. */
  readonly retryAfterSeconds?: number
}

export interface SendResponse {
  /** Milliseconds since the Unix epoch; it is the message's id too. */
  readonly timestamp?: number
  readonly results?: readonly SendResult[]
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
  const { result, error } = (http.json ?? {}) as { result?: unknown; error?: RpcError }
  return typeof error?.code === 'number' ? { http, error } : { http, result }
}
