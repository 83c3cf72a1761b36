/** Creates a server on loopback that stands for every https host, and timers that only tests end. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Web } from './web.ts'

export interface WebFixture {
  readonly web: Web
  /** Paths, in the order of the requests. */
  readonly requests: string[]
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void
  /** Resolves once the server has had this many requests. */
  askedTimes(times: number): Promise<void>
  /** Ends the present or next timer of exactly this length. */
  pass(ms: number): Promise<void>
  stop(): void
}

export async function createWebFixture(context: TestContext): Promise<WebFixture> {
  const stopping = new AbortController()
  const changed = new EventTarget()
  const notify = () => changed.dispatchEvent(new Event('change'))
  const until = async (holds: () => boolean) => {
    while (!holds()) await once(changed, 'change')
  }
  const timers = new Map<() => void, number>()
  const server = createServer((incoming, outgoing) => {
    fixture.requests.push(incoming.url ?? '')
    notify()
    fixture.answer(incoming, outgoing)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  context.after(() => {
    stopping.abort()
    server.closeAllConnections()
    server.close()
  })

  const fixture: WebFixture = {
    web: {
      fetch: (input, init) => {
        const { pathname, search } = new URL(String(input))
        return fetch(`http://127.0.0.1:${port}${pathname}${search}`, init)
      },
      timers: {
        setTimeout(callback, ms) {
          timers.set(callback, ms)
          notify()
          return callback
        },
        clearTimeout: (timer) => timers.delete(timer as () => void),
      },
      signal: stopping.signal,
    },
    requests: [],
    answer: (_incoming, outgoing) => outgoing.end('ok'),
    askedTimes: (times) => until(() => fixture.requests.length >= times),
    async pass(ms) {
      const found = () => [...timers].find(([, armed]) => armed === ms)?.[0]
      await until(() => found() !== undefined)
      const callback = found()
      if (callback) timers.delete(callback)
      callback?.()
    },
    stop: () => stopping.abort(),
  }
  return fixture
}
