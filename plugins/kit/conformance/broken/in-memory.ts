/** Fake vendors without sockets, behind a `fetch` of their own. A thousand of them cost as much as a few servers. */

import { createFaults, type FaultyVendor, type Outcome } from '../../fake-server/faults.ts'
import type { FakeServer } from '../../fake-server/index.ts'
import { parseJson } from '../../record.ts'

type Server = Pick<ReturnType<typeof createFaults<object>>, 'expect' | 'meet' | 'release'>

const servers = new Map<string, Server>()
let opened = 0

/** Opens a fake server that can be called by `fetchInMemory`. */
export function openInMemory(options: FaultyVendor): FakeServer {
  const { faults, ...server } = createFaults<object>(options)
  opened += 1
  const host = `vendor-${opened}.test`
  servers.set(host, server)
  return { ...faults, url: `http://${host}`, close: async () => void servers.delete(host) }
}

export const fetchInMemory: typeof globalThis.fetch = async (input, init = {}) => {
  const { method = 'GET', body, signal } = init
  signal?.throwIfAborted()
  const url = new URL(String(input))
  const server = servers.get(url.host)
  if (server === undefined) throw failed('ECONNREFUSED')
  const text = String(body ?? '')
  const waiter = {}
  server.expect(waiter)
  try {
    const outcome = await server.meet(waiter, {
      method,
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: Object.fromEntries(new Headers(init.headers)),
      text,
      json: parseJson(text),
    })
    return await respond(outcome, signal)
  } finally {
    server.release(waiter)
  }
}

async function respond(outcome: Outcome, signal: AbortSignal | null | undefined): Promise<Response> {
  switch (outcome.end) {
    case 'cut':
      throw failed('UND_ERR_SOCKET')
    case 'hang':
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    case 'cut-answer':
      return new Response(
        new ReadableStream({ pull: (controller) => controller.error(failed('UND_ERR_SOCKET')) }),
      )
    case 'answer': {
      const { body = '', ...init } = outcome.answer
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), init)
    }
  }
}

function failed(code: string): TypeError {
  return new TypeError('fetch failed', { cause: { code } })
}
