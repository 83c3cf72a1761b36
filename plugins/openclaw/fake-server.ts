/**
 * A fake of an OpenClaw gateway, whose hooks answer as `src/gateway/server/hooks-request-handler.ts` of openclaw/openclaw does
 * (read in 2026), with a memory of the requests.
 */

import { asRecord } from '@reveille/kit'
import { type FakeServerRequest, openFakeServer as openServer } from '@reveille/kit/fake-server'

export interface Received {
  readonly path: string
  readonly headers: FakeServerRequest['headers']
  readonly body: Readonly<Record<string, unknown>>
}

export interface Reply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: string
}

export interface FakeServerOptions {
  readonly token: string
  /** Default: any free one. */
  readonly port?: number
  /** Default: true, as versions before 2026.2.12 had it. */
  readonly allowRequestSessionKey?: boolean
  /** Default: OpenClaw's, 262,144. */
  readonly maxBodyBytes?: number
}

export async function openFakeServer(options: FakeServerOptions) {
  const { token, port = 0, allowRequestSessionKey = true, maxBodyBytes = 262_144 } = options
  const received: Received[] = []
  const taken: Received[] = []
  const runs = new Map<string, string>()
  let scripted: ((request: Received) => Reply | undefined) | undefined

  const server = await openServer({
    port,
    answer({ path, headers, json: body, text }) {
      const found = { path, headers, body: asRecord(body) ?? {} }
      received.push(found)
      return scripted?.(found) ?? replyTo(found, text)
    },
  })

  function replyTo(request: Received, text: string): Reply {
    const { path, headers, body } = request
    if (!path.startsWith('/hooks/')) return plain(404, 'Not Found')
    if (headers['authorization'] !== `Bearer ${token}`) return plain(401, 'Unauthorized')
    if (Buffer.byteLength(text) > maxBodyBytes) return json(413, { ok: false, error: 'payload too large' })
    if (path === '/hooks/wake') {
      if (!isText(body['text'])) return json(400, { ok: false, error: 'text required' })
      taken.push(request)
      return json(200, { ok: true, mode: body['mode'] ?? 'now' })
    }
    if (path !== '/hooks/agent') return plain(404, 'Not Found')
    if (!isText(body['message'])) return json(400, { ok: false, error: 'message required' })
    if (body['sessionKey'] !== undefined && !allowRequestSessionKey) {
      const refused = 'sessionKey is disabled for external /hooks/agent payloads'
      const error = `${refused}; set hooks.allowRequestSessionKey=true to enable`
      return json(400, { ok: false, error })
    }
    // OpenClaw's idempotency applies to requests that are equal.
    const key = JSON.stringify([headers['idempotency-key'], body])
    const known = runs.get(key)
    if (known === undefined) taken.push(request)
    const runId = known ?? `claw-${taken.length}`
    runs.set(key, runId)
    return json(200, { ok: true, runId })
  }

  return {
    url: server.url,
    /** The requests that it took, in order. */
    taken: taken as readonly Received[],
    /** Every request, whether it was taken or not. */
    received: received as readonly Received[],
    /** Lets a function answer from now on, or the fake itself if it is undefined. */
    answer(reply: typeof scripted) {
      scripted = reply
    },
    /** Lets it take requests and never answer. */
    stall: () => server.always({ kind: 'hang-before' }),
    /** Lets it begin its answers and never end them. Settles when the first has begun. */
    stallMidway() {
      server.always({ kind: 'hang-answer' })
      return server.untilHanging()
    },
    close: server.close,
  }
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

export function plain(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body }
}

export function page(status: number): Reply {
  const body = '<!doctype html><title>Sign in</title><p>Please sign in.</p>'
  return { status, headers: { 'content-type': 'text/html' }, body }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}
