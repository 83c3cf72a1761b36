/** Makes the good requests among the bad ones. Each has an answer that it must get, whatever the other requests do. */

import { gzipSync } from 'node:zlib'
import { endpointToken, hookToken } from './gateway.ts'
import { type Signed, signers } from './signers.ts'
import type { Random } from './words.ts'

export interface ExpectedAnswer {
  readonly name: string
  /** The answer has one of these. */
  readonly statuses: readonly number[]
  /** The body of the answer contains this text. */
  readonly holding: string
}

interface GoodRequest {
  /** The buffers are written one after another. */
  readonly chunks: readonly Buffer[]
  readonly expected: readonly ExpectedAnswer[]
  /** The address that the request comes from. Default: one of many. */
  readonly client?: string
}

export function goodRequest(random: Random, id: string): GoodRequest {
  return random.pick(makers)(id)
}

const bearerOf = (token: string) => ({ Authorization: `Bearer ${token}` })
const bearer = bearerOf(hookToken)
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
const gzip = { 'Content-Encoding': 'gzip' }
const wake = (id: string) => JSON.stringify({ text: `good ${id}`, mode: 'next-heartbeat' })
const run = (id: string) => JSON.stringify({ message: id, wakeMode: 'next-heartbeat', deliver: false })
const accepted = (name: string) => ({ name, statuses: [200], holding: '"eventId"' })

const makers: readonly ((id: string) => GoodRequest)[] = [
  (id) => one('a token', 'wake', { headers: bearer, body: wake(id) }),
  (id) =>
    one('a token in a header of ours', 'wake', { headers: { 'X-Gateway-Token': hookToken }, body: wake(id) }),
  (id) => one('a token in the address', `wake?token=${hookToken}`, { headers: {}, body: wake(id) }),
  (id) => ({
    chunks: [bytesOf('agent', { headers: bearer, body: run(id) })],
    expected: [{ name: 'a run', statuses: [202], holding: '"runId"' }],
  }),
  (id) => one('an absolute address', 'wake', { headers: bearer, body: wake(id) }, 'http://x'),
  (id) => one("an endpoint's own token", 'own', { headers: bearerOf(endpointToken), body: wake(id) }),
  (id) => one('a form', 'plain', { headers: { ...bearer, ...form }, body: `a=${id}` }),
  (id) => one('a compressed body', 'wake', { headers: { ...bearer, ...gzip }, body: gzipSync(wake(id)) }),
  (id) => {
    const request = bytesOf('once', { headers: bearer, body: JSON.stringify({ id }) })
    return {
      chunks: [Buffer.concat([request, request])],
      expected: [accepted('a delivery'), { name: 'the same again', statuses: [200], holding: '"duplicate"' }],
    }
  },
  (id) => {
    const request = bytesOf('wake', { headers: bearerOf('wrong'), body: wake(id) })
    const refused = { name: 'a wrong token', statuses: [401, 429], holding: '"ok":false' }
    return { chunks: [request, request, request], expected: [refused, refused, refused], client: '127.9.9.9' }
  },
  ...Object.entries(signers).map(
    ([vendor, sign]) =>
      (id: string) =>
        one(`a signature of ${vendor}`, vendor, sign(id)),
  ),
  (id) => {
    const { headers, body } = signers.github(id)
    return one('a token and a signature', 'both', { headers: { ...headers, ...bearer }, body })
  },
]

function one(name: string, endpoint: string, content: Signed<string | Buffer>, before = ''): GoodRequest {
  return { chunks: [bytesOf(endpoint, content, before)], expected: [accepted(name)] }
}

function bytesOf(endpoint: string, { headers, body }: Signed<string | Buffer>, before = ''): Buffer {
  const bytes = Buffer.from(body)
  const all = { Host: 'x', ...headers, 'Content-Length': String(bytes.length) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([
    Buffer.from(`POST ${before}/hooks/${endpoint} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
    bytes,
  ])
}
