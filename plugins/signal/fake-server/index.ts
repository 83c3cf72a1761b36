/** A fake of a signal-cli daemon with one account and the people and groups that it can reach. */

import type { Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
} from '@reveille/kit/fake-server'
import { createAccount, ownNumber, people, refusals, rpcError } from './account.ts'

export { groups, ownNumber, people } from './account.ts'

export { openRestVendor } from './rest.ts'

export async function openVendor(): Promise<FakeVendor> {
  const account = createAccount()
  const fakeServer = await openFakeServer({
    answer,
    isSend: ({ json }) => (json as { method?: string } | undefined)?.method === 'send',
  })
  return {
    ...fakeServer,
    messages: account.messages,
    config: { baseUrl: fakeServer.url },
    secrets: [],
    to: people.ada.number,
    unknownTo: '+41790000000',
    refusals,
  }

  /** Answers as the man page `signal-cli-jsonrpc` says under "HTTP". */
  function answer(request: FakeServerRequest): FakeServerAnswer {
    const { method, path, headers } = request
    if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers['host'] ?? '')) return { status: 421 }
    if (path === '/api/v1/check') return { status: method === 'GET' ? 200 : 405 }
    if (path !== '/api/v1/rpc') return { status: 404 }
    if (method !== 'POST') return { status: 405 }
    if (headers['content-type'] !== 'application/json') return { status: 415 }
    return call(request.json)
  }

  function call(json: unknown): FakeServerAnswer {
    if (json === undefined) return { body: rpcError(-32700, 'Unexpected end-of-input', null) }
    const { jsonrpc, id, method, params = {} } = json as Record<string, unknown>
    if (jsonrpc !== '2.0' || typeof method !== 'string') {
      return { body: rpcError(-32600, 'unexpected type: MISSING', null) }
    }
    const given = answerOf(method, params as Record<string, unknown>)
    // A call without an id expects no answer.
    if (id === undefined) return { status: 201 }
    return { body: 'code' in given ? { jsonrpc, error: given, id } : { jsonrpc, ...given, id } }
  }

  function answerOf(method: string, params: Readonly<Record<string, unknown>>) {
    if (method === 'listAccounts') return { result: [{ number: ownNumber }] }
    if (method === 'send') return account.send(params)
    return { code: -32601, message: 'Method not implemented', data: null }
  }
}

/** Returns what a person reads of a part: its text, since the styles are kept separately. */
export function visibleText({ text }: Part): string {
  return text
}
