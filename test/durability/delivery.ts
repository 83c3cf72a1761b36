/** Makes repeated deliveries, one for each way in which a sender marks two requests as the same. */

import { signedByGitHub } from '../signed.ts'
import type { Post } from './sender.ts'

const secret = 'delivery-secret-0123456789abcdef'

/** The lines under `hooks` for them, besides its token. */
export const deliveryHooks = `  endpoints:
    github: { verify: { provider: github, secret: ${secret} } }
  mappings:
    - id: signed
      match: { path: github }
      message: "delivery {{delivery}}"
      wakeMode: next-heartbeat
      deliver: false
    - id: keyed
      match: { path: keyed }
      dedupe: { key: "headers.\`x-delivery\`" }
      message: "delivery {{delivery}}"
      wakeMode: next-heartbeat
      deliver: false
`

export type Way = 'signed' | 'keyed' | 'given'

/** Makes a request. The same `name` makes the same request, byte for byte. */
export function deliveryOf(way: Way, name: string): Post {
  const body = { delivery: name }
  switch (way) {
    case 'signed': {
      const headers = { ...signedByGitHub(JSON.stringify(body), secret), 'x-github-delivery': name }
      return { path: '/hooks/github', body, headers }
    }
    case 'keyed':
      return { path: '/hooks/keyed', body, headers: { 'x-delivery': name } }
    case 'given': {
      const run = { message: `delivery ${name}`, wakeMode: 'next-heartbeat', deliver: false }
      return { path: '/hooks/agent', body: run, headers: { 'idempotency-key': name } }
    }
  }
}
