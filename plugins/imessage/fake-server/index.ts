/** A fake server of a BlueBubbles server and the Mac behind it: chats, people, and what was sent to them. */

import type { Part } from '@reveille/kit'
import {
  badGateway,
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
} from '@reveille/kit/fake-server'
import { createMac, existing } from './mac.ts'
import { answer, refuse } from './responses.ts'

export interface FakeIMessage extends FakeVendor {
  /** From now on Messages confirms nothing, and BlueBubbles does not answer, until the function that is answered is called. */
  hold(): () => void
}

const password = 'made-up & password/7'

/** Pure. What a person reads of a part: Messages knows no markup. */
export function visibleText(part: Part): string {
  return part.text
}

export async function openVendor(): Promise<FakeIMessage> {
  const mac = createMac()

  function respond(request: FakeServerRequest): FakeServerAnswer | Promise<FakeServerAnswer> {
    const { method, path, query, json } = request
    const given = query.get('password') ?? query.get('guid') ?? query.get('token')
    if (given !== password) return refuse(401, 'Authentication Error', 'Unauthorized')
    const fields = bodyOf(request) ? (json as Record<string, unknown>) : {}
    if (method === 'GET' && path === '/api/v1/ping') return answer('Ping received!', 'pong')
    if (method === 'POST' && path === '/api/v1/message/text') return mac.sendText(fields)
    if (method === 'POST' && path === '/api/v1/chat/new') return mac.newChat(fields)
    const [, guid] = /^\/api\/v1\/chat\/([^/]+)$/.exec(path) ?? []
    if (method === 'GET' && guid !== undefined) return mac.findChat(guid)
    return { status: 404, body: 'Not Found' }
  }

  const fakeServer = await openFakeServer({
    answer: respond,
    isSend: ({ method, path }) => method === 'POST' && /\/(?:message\/text|chat\/new)$/.test(path),
  })

  return {
    ...fakeServer,
    hold: mac.hold,
    messages: mac.messages,
    config: { baseUrl: fakeServer.url, password },
    secrets: [password],
    to: existing.person,
    unknownTo: 'chat_identifier:chat404404404',
    refusals: {
      badCredential: refuse(401, 'Authentication Error', 'Unauthorized'),
      forbidden: mac.refusal(),
      // BlueBubbles itself has no limit; a tunnel before it may.
      rateLimited: (seconds) => ({
        status: 429,
        headers: { 'retry-after': String(seconds), 'content-type': 'text/html' },
        body: '<html>Too Many Requests</html>',
      }),
      serverError: refuse(500, 'Server Error', 'database is locked'),
      badGateway,
    },
  }
}

function bodyOf({ headers, json }: FakeServerRequest): boolean {
  const isJson = /^application\/json\b/.test(headers['content-type'] ?? '')
  return isJson && typeof json === 'object' && json !== null && !Array.isArray(json)
}
