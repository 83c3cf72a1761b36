/** A fake of a receiver of Standard Webhooks, which checks signatures by the specification's own library. */

import type { Part } from '@reveille/kit'
import { type FakeVendor, openFakeServer, type VendorMessage } from '@reveille/kit/fake-server'
import { parseMarkdown, readText } from '@reveille/kit/markdown'
import { Webhook } from 'standardwebhooks'

/** Returns what a person reads of a part. */
export function visibleText(part: Part): string {
  return readText(parseMarkdown(part.text))
}

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export async function openVendor(): Promise<FakeVendor> {
  const receiver = new Webhook(secret)
  const messages: VendorMessage[] = []
  const server = await openFakeServer({
    answer({ text: body, headers }) {
      let event: { readonly type: string; readonly data: { readonly to: string; readonly text: string } }
      try {
        event = receiver.verify(body, headers as Parameters<Webhook['verify']>[1]) as typeof event
      } catch {
        return { status: 401, body: { error: 'bad signature' } }
      }
      if (event.type !== 'message') return { body: { ok: true } }
      const { to, text } = event.data
      if (to === 'nobody') return { status: 404, body: { error: 'nobody has this name' } }
      messages.push({ to, text: visibleText({ text }), type: event.type, id: headers['webhook-id'] })
      return { body: { ok: true } }
    },
  })
  return {
    ...server,
    messages,
    config: { url: `${server.url}/hook`, secret, allowPrivateAddresses: true },
    secrets: [secret],
    to: 'ops',
    unknownTo: 'nobody',
    refusals: {
      badCredential: { status: 401, body: { error: 'bad signature' } },
      forbidden: { status: 403, body: { error: 'not allowed' } },
      rateLimited: (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } }),
      serverError: { status: 500, body: { error: 'oops' } },
    },
  }
}
