/** Makes the good requests among the bad ones. Each has an answer that it must get, whatever the other requests do. */

import { gzipSync } from 'node:zlib'
import { endpointToken, hookToken } from './gateway.ts'
import { type Signed, signers } from './signers.ts'
import { chosen, type Random } from './words.ts'

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
  return chosen(
    random,
    makers.map((make) => () => make(random, id)),
  )
}

const bearer = { Authorization: `Bearer ${hookToken}` }
const wake = (id: string) => JSON.stringify({ text: `good ${id}`, mode: 'next-heartbeat' })
const accepted = (name: string) => ({ name, statuses: [200], holding: '"eventId"' })

const makers: readonly ((random: Random, id: string) => GoodRequest)[] = [
  (_, id) => one('a token', 'wake', { headers: bearer, body: wake(id) }),
  (_, id) =>
    one('a token in a header of ours', 'wake', { headers: { 'X-Gateway-Token': hookToken }, body: wake(id) }),
  (_, id) => one('a token in the address', `wake?token=${hookToken}`, { headers: {}, body: wake(id) }),
  (_, id) => one('an absolute address', 'wake', { headers: bearer, body: wake(id) }, 'http://x'),
  (_, id) =>
    one("an endpoint's own token", 'own', {
      headers: { Authorization: `Bearer ${endpointToken}` },
      body: wake(id),
    }),
  (_, id) =>
    one('a form', 'plain', {
      headers: { ...bearer, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `a=${id}`,
    }),
  (_, id) =>
    one('a compressed body', 'wake', {
      headers: { ...bearer, 'Content-Encoding': 'gzip' },
      body: gzipSync(wake(id)),
    }),
  (_, id) => {
    const request = bytesOf('once', { headers: bearer, body: JSON.stringify({ id }) })
    return {
      chunks: [Buffer.concat([request, request])],
      expected: [accepted('a delivery'), { name: 'the same again', statuses: [200], holding: '"duplicate"' }],
    }
  },
  (_, id) => {
    const request = bytesOf('wake', { headers: { Authorization: 'Bearer wrong' }, body: wake(id) })
    const refused = { name: 'a wrong token', statuses: [401, 429], holding: '"ok":false' }
    return { chunks: [request, request, request], expected: [refused, refused, refused], client: '127.9.9.9' }
  },
  ...Object.entries(signers).map(
    ([vendor, sign]) =>
      (_: Random, id: string) =>
        one(`a signature of ${vendor}`, vendor, sign(id)),
  ),
  (_, id) => {
    const { headers, body } = byGitHub(id)
    return one('a token and a signature', 'both', { headers: { ...headers, ...bearer }, body })
  },
]

function byGitHub(id: string): Signed {
  return signers['github']?.(id) ?? { headers: {}, body: '' }
}

interface Content {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

function one(name: string, endpoint: string, content: Content, before = ''): GoodRequest {
  return { chunks: [bytesOf(endpoint, content, before)], expected: [accepted(name)] }
}

function bytesOf(endpoint: string, { headers, body }: Content, before = ''): Buffer {
  const bytes = Buffer.from(body)
  const all = { Host: 'x', ...headers, 'Content-Length': String(bytes.length) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([
    Buffer.from(`POST ${before}/hooks/${endpoint} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
    bytes,
  ])
}
