/** Finds the operation of a request. */

import { describeGoogle, type Operation, type Service } from '../description/operations.ts'

export const prefixes = ['accounts', 'oauth', 'gmail', 'pubsub', 'certs'] as const

/** Paths of the endpoints that Google describes in words only. */
const plain: Readonly<Record<string, { readonly id: string; readonly method: string }>> = {
  '/accounts/o/oauth2/v2/auth': { id: 'oauth.auth', method: 'GET' },
  '/oauth/token': { id: 'oauth.token', method: 'POST' },
  '/oauth/revoke': { id: 'oauth.revoke', method: 'POST' },
  '/certs/oauth2/v3/certs': { id: 'oauth.certs', method: 'GET' },
}

export type Route =
  | { readonly kind: 'plain'; readonly id: string }
  | {
      readonly kind: 'described'
      readonly id: string
      readonly operation: Operation
      readonly path: Readonly<Record<string, string>>
    }
  | { readonly kind: 'unknown'; readonly id: 'unknown'; readonly service: Service; readonly why: string }

/** `path` is not decoded. */
export function findRoute(method: string, path: string): Route {
  const known = plain[path]
  if (known?.method === method) return { kind: 'plain', id: known.id }
  const [, prefix = '', rest = ''] = /^\/(\w+)(\/.*)$/.exec(path) ?? []
  const service = prefix === 'pubsub' ? 'pubsub' : 'gmail'
  const unknown = (why: string): Route => ({ kind: 'unknown', id: 'unknown', service, why })
  if (known !== undefined) return unknown(`${known.id} takes ${known.method}`)
  const there = describeGoogle().operations.filter(
    (each) => each.service === prefix && each.pattern.test(rest),
  )
  const operation = there.find((each) => each.method === method)
  if (operation === undefined) {
    return unknown(
      there.length === 0 ? 'there is no such path' : `it takes ${there.map((each) => each.method)}`,
    )
  }
  const values = operation.pattern.exec(rest)?.slice(1) ?? []
  try {
    const decoded = operation.inPath.map((name, index) => [name, decodeURIComponent(values[index] ?? '')])
    return { kind: 'described', id: operation.id, operation, path: Object.fromEntries(decoded) }
  } catch {
    return unknown('the path cannot be decoded')
  }
}
