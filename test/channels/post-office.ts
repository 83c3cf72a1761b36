/** Starts a service that stores a message once, by its key, and creates a channel to it. */

import { type Channel, callVendor, createPluginFetch, PluginError } from '@reveille/kit'
import { type FakeServer, openFakeServer } from '@reveille/kit/fake-server'

export interface PostOffice extends FakeServer {
  readonly channel: Channel
  /** The stored messages, in order. */
  readonly messages: readonly { readonly to: string; readonly text: string }[]
  /** Returns the number of open calls. */
  open(): number
}

interface Letter {
  readonly to: string
  readonly text: string
  readonly key: string
}

/** `onCall` is called when a call begins and when it ends. */
export async function openPostOffice(id: string, onCall: () => void): Promise<PostOffice> {
  const messages: Letter[] = []
  const keys = new Set<string>()
  let open = 0

  const fakeServer = await openFakeServer({
    answer({ json }) {
      const letter = json as Letter
      if (!keys.has(letter.key)) messages.push(letter)
      keys.add(letter.key)
      return { body: { id: letter.key } }
    },
  })

  const fetch = createPluginFetch({
    fetch: globalThis.fetch,
    log: { debug() {} },
    owner: { channel: id },
    signal: new AbortController().signal,
  })

  async function call(letter: Letter, signal: AbortSignal): Promise<{ id: string }> {
    const { status } = await callVendor(fetch, { url: fakeServer.url, body: letter, signal })
    if (status === 200) return { id: letter.key }
    throw new PluginError(`The post office answered ${status}.`, { code: 'unavailable', retryable: true })
  }

  const channel: Channel = {
    id,
    limits: { part: 1000, unit: 'utf16' },
    idempotency: { windowMs: 86_400_000 },
    target: (to) => ({ key: to, kind: 'user' }),
    render: (markdown) => [{ text: markdown }],
    async send({ text }, { target, key, signal }) {
      open += 1
      onCall()
      try {
        return await call({ to: target.key, text, key }, signal)
      } finally {
        open -= 1
        onCall()
      }
    },
  }

  return { ...fakeServer, channel, messages, open: () => open }
}
