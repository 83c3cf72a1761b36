/**
 * Asks a gateway as `fetch` does, over `node:http` where the address is one of plain HTTP: loading what implements `fetch` takes 60 to 100 ms of
 * processor time, which is most of what a short command needs.
 */

import { request } from 'node:http'

export interface GatewayRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** The part of a `Response` that commands read. */
export interface GatewayAnswer {
  readonly ok: boolean
  readonly status: number
  readonly body: { cancel(): Promise<void> } | null
  json(): Promise<unknown>
  bytes(): Promise<Uint8Array>
}

export type GatewayFetch = (url: string, request: GatewayRequest) => Promise<GatewayAnswer>

/** What plain HTTP does not settle goes to `fetch`: other schemes, and an answer that leads elsewhere. */
export function createGatewayFetch(otherwise: GatewayFetch): GatewayFetch {
  return async (url, asked) => {
    if (!url.startsWith('http:')) return otherwise(url, asked)
    const answer = await askPlainly(url, asked)
    return answer.status >= 300 && answer.status < 400 ? otherwise(url, asked) : answer
  }
}

/** Rejects with the reason of the signal when that ends it. */
function askPlainly(
  url: string,
  { method = 'GET', headers, body, signal }: GatewayRequest,
): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(signal.aborted ? signal.reason : error)
    const asking = request(url, { method, headers, signal }, async (answer) => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk)
        const status = answer.statusCode ?? 0
        const whole = Buffer.concat(chunks)
        const json = async () => JSON.parse(whole.toString('utf8')) as unknown
        resolve({ ok: status >= 200 && status < 300, status, body: null, json, bytes: async () => whole })
      } catch (error) {
        fail(error as Error)
      }
    })
    asking.once('error', fail)
    asking.end(body)
  })
}
