/** Starts a server that records its requests and answers as a test's script says. */

import { type FakeServerAnswer, type FakeServerRequest, openFakeServer } from '@reveille/kit/fake-server'

export interface Asked {
  /** The path with the query. */
  readonly path: string
  readonly headers: FakeServerRequest['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a body is what the tests are about, and they say what it must be.
  readonly body: any
}

type Answer = FakeServerAnswer | 'cut' | 'hang'
export type Script = Answer | ((asked: Asked) => Answer)

export type CaptureServer = Awaited<ReturnType<typeof startCaptureServer>>

export async function startCaptureServer(first: Script) {
  const requests: Asked[] = []
  let script = first
  const server = await openFakeServer({
    answer({ path, query, headers, json: body }) {
      const each = { path: query.size > 0 ? `${path}?${query}` : path, headers, body }
      requests.push(each)
      return typeof script === 'function' ? script(each) : script
    },
  })
  return {
    ...server,
    asked: requests as readonly Asked[],
    /** Sets the script that answers every request from now on. */
    play(next: Script) {
      script = next
    },
  }
}

/** Answers with these events, and ends the stream unless `end` says otherwise. */
export function stream(events: readonly string[], end?: 'cut' | 'hang'): FakeServerAnswer {
  return { headers: { 'content-type': 'text/event-stream' }, body: events.join(''), ...(end && { end }) }
}

/** Answers with a status and a JSON body. */
export function refuse(
  status: number,
  body: object | string,
  headers?: FakeServerAnswer['headers'],
): FakeServerAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}
