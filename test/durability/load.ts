/** Posts runs at a steady rate, and keeps what was acknowledged. */

import type { TestContext } from 'node:test'
import type { GatewayProcess } from './gateway-process.ts'
import { token } from './killed-gateway.ts'

export interface Load {
  /** The requests with a 2xx, with the time of the answer since the load began. Milliseconds. */
  readonly acknowledged: { readonly requestId: string; readonly runId: string; readonly at: number }[]
  /** One whole answer for each status. */
  readonly answers: Map<
    number,
    { readonly body: Record<string, unknown>; readonly retryAfter: string | null }
  >
  /** Milliseconds since the load began. */
  at(): number
  /** Stops sending and waits for the answers. */
  stop(): Promise<void>
  /** Describes the answers of each second, by the time of the request. */
  table(): string
  /** The number of answers with this status. */
  count(status: number): number
  /** Maximum wait for an answer. Milliseconds. */
  longest(): number
}

/** Posts this many runs each second, without waiting for earlier answers. Their messages have at least `bytes` bytes. */
export function beginLoad(t: TestContext, { url }: GatewayProcess, perSecond: number, bytes = 0): Load {
  const began = performance.now()
  const at = () => performance.now() - began
  const acknowledged: Load['acknowledged'] = []
  const answers: Load['answers'] = new Map()
  const seconds: Map<string, number>[] = []
  const waiting = new Set<Promise<void>>()
  let longest = 0
  let count = 0

  async function post(): Promise<void> {
    count += 1
    const sent = at()
    const response = await fetch(`${url}/hooks/agent`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `key-${began}-${count}`,
      },
      body: JSON.stringify({
        message: `run ${count}`.padEnd(bytes, '.'),
        wakeMode: 'next-heartbeat',
        deliver: false,
      }),
    }).catch(() => undefined)
    const body = (await response?.json().catch(() => ({}))) as Record<string, unknown> | undefined
    longest = Math.max(longest, at() - sent)
    const status = response?.status ?? 0
    const second = Math.floor(sent / 1000)
    const name = String(status || 'broken')
    seconds[second] ??= new Map()
    seconds[second].set(name, (seconds[second].get(name) ?? 0) + 1)
    if (response?.ok) {
      const [requestId, runId] = [String(body?.['requestId']), String(body?.['runId'])]
      acknowledged.push({ requestId, runId, at: at() })
    }
    if (body) answers.set(status, { body, retryAfter: response?.headers.get('retry-after') ?? null })
  }

  const timer = setInterval(() => {
    const posted: Promise<void> = post().finally(() => waiting.delete(posted))
    waiting.add(posted)
  }, 1000 / perSecond)
  t.after(() => clearInterval(timer))

  return {
    acknowledged,
    answers,
    at,
    async stop() {
      clearInterval(timer)
      await Promise.all(waiting)
    },
    table: () =>
      Array.from(
        seconds,
        (counts, second) => `${second} s: ${[...(counts ?? [])].map((pair) => pair.join(' x')).join(', ')}`,
      ).join('; '),
    count: (status) => seconds.reduce((sum, counts) => sum + (counts?.get(String(status)) ?? 0), 0),
    longest: () => longest,
  }
}
