/** Posts runs at a steady rate, and keeps what was acknowledged. */

import type { TestContext } from 'node:test'
import type { GatewayProcess } from './gateway-process.ts'
import { token } from './killed-gateway.ts'

export type Load = ReturnType<typeof beginLoad>

/** Posts this many runs each second, without waiting for earlier answers. Their messages have at least `bytes` bytes. */
export function beginLoad(t: TestContext, { url }: GatewayProcess, perSecond: number, bytes = 0) {
  const began = performance.now()
  const at = () => performance.now() - began
  const acknowledged: { requestId: string; runId: string; at: number }[] = []
  const answers = new Map<number, { body: Record<string, unknown>; retryAfter: string | null }>()
  const counts = new Map<number, number>()
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
    counts.set(status, (counts.get(status) ?? 0) + 1)
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
    /** The requests with a 2xx, with the time of the answer since the load began. Milliseconds. */
    acknowledged,
    /** One whole answer for each status. */
    answers,
    /** Milliseconds since the load began. */
    at,
    /** Stops sending and waits for the answers. */
    async stop() {
      clearInterval(timer)
      await Promise.all(waiting)
    },
    /** The number of answers with this status; 0 is for no answer. */
    count: (status: number) => counts.get(status) ?? 0,
    /** Maximum wait for an answer. Milliseconds. */
    longest: () => longest,
  }
}
