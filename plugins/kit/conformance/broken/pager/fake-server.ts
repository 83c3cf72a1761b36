/** A fake of the pager's service, which has a place for each `#name` and remembers keys if it is asked to. */

import type { Part } from '../../../channel.ts'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
  type VendorMessage,
} from '../../../fake-server/index.ts'

const token = 'pager-token/0123'

export async function openPager(more: { remembers?: boolean; breaks?: string } = {}): Promise<FakeVendor> {
  const messages: VendorMessage[] = []
  const pings: string[] = []
  const receipts = new Map<string, object>()

  function answer({ path, json }: FakeServerRequest): FakeServerAnswer {
    if (path === `/${token}/me`) return { body: { name: 'pager' } }
    if (path !== `/${token}/messages`) return { status: 401, body: { error: 'unknown-token' } }
    const { to, thread, text, key } = json as { to: string; thread?: string; text: string; key: string }
    if (to === '#nobody') return { status: 404, body: { error: 'unknown-recipient' } }
    const known = more.remembers ? receipts.get(key) : undefined
    if (known) return { body: known }
    messages.push({ to, thread, text: visibleText({ text }) })
    pings.push(...(text.match(/@\w+/g) ?? []))
    const receipt = { id: `m${messages.length}` }
    receipts.set(key, receipt)
    return { body: receipt }
  }

  const fakeServer = await openFakeServer({ answer, isSend: ({ path }) => path.endsWith('/messages') })
  return {
    ...fakeServer,
    messages,
    pings,
    config: { token, baseUrl: fakeServer.url, ...more },
    secrets: [token],
    to: '#ops',
    unknownTo: '#nobody',
    threadTo: '#ops:thread:4711',
    refusals: {
      badCredential: { status: 401, body: { error: 'revoked-token' } },
      forbidden: { status: 403, body: { error: 'muted' } },
      rateLimited: (seconds) => ({
        status: 429,
        headers: { 'retry-after': String(seconds) },
        body: { error: 'slow-down' },
      }),
      serverError: { status: 500, body: { error: 'broken' } },
    },
  }
}

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&amp;': '&' }

export function visibleText({ text }: Part): string {
  return text.replaceAll(/<\/?[bciqs]>|&(?:lt|amp);/g, (found) => entities[found] ?? '')
}
