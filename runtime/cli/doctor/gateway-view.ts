/** Asks the running gateway, if there is one. Each question is asked once for all checks. */

import { type Client, type Connection, createClient, GatewayUnreachable } from '../client.ts'
import type { Io } from '../io.ts'

/** A check throws this error for something that it cannot look at. The message is a clause, as that of a result. */
export class NotChecked extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Maximum time to wait for a response, in milliseconds. */
const answerMs = 5_000

export type Reach =
  | { readonly kind: 'gateway'; readonly skewMs?: number }
  /** No server listens there, or it does not answer in time. */
  | { readonly kind: 'silent'; readonly reason: string }
  /** A server answers that is not a gateway. */
  | { readonly kind: 'foreign' }

export type GatewayView = ReturnType<typeof createGatewayView>

export function createGatewayView(connection: Connection, io: Io) {
  const { address, token, pid, note } = connection
  const client = createClient(connection, io, answerMs)
  const reach = once(async (): Promise<Reach> => {
    const startedAt = io.now()
    try {
      const { status, body, date } = await client.probe('/healthz')
      if (status !== 200 || body?.['ok'] !== true) return { kind: 'foreign' }
      return Number.isNaN(date)
        ? { kind: 'gateway' }
        : { kind: 'gateway', skewMs: skewOf(date, startedAt, io.now()) }
    } catch (error) {
      if (error instanceof GatewayUnreachable) return { kind: 'silent', reason: error.why }
      throw error
    }
  })
  /** Returns 401 where it accepts another token, and 404 where it has no admin surface. @throws NotChecked as `statusOf` */
  const admission = once(async () => {
    const status = await statusOf('/api/status', true)
    // The gateway accepts the token, but cannot read its store.
    return status === 503 ? 200 : status
  })
  const status = once(async () => (await admin()).ask('readStatus'))

  /** Says in one sentence why it accepts nothing; undefined where it accepts. @throws NotChecked where no gateway answers */
  async function notReady(): Promise<string | undefined> {
    if ((await statusOf('/readyz')) === 200) return undefined
    // A gateway with another token does not say.
    const health = token === undefined ? undefined : await client.ask('readHealth').catch(() => undefined)
    return health?.reason ?? 'it accepts no requests'
  }

  /** Returns the status of a GET. @throws NotChecked where no gateway answers */
  async function statusOf(path: string, showsToken = false): Promise<number> {
    if ((await reach()).kind !== 'gateway') throw new NotChecked('GATEWAY_DOWN', 'no gateway answers')
    return (await client.probe(path, showsToken)).status
  }

  /** Asks with the token of the configuration. @throws NotChecked where the gateway refuses it */
  async function admin(): Promise<Client> {
    if ((await admission()) === 200) return client
    if (token === undefined)
      throw new NotChecked('NO_ADMIN_TOKEN', 'without `gateway.auth.token` the gateway cannot be asked')
    throw new NotChecked('ADMIN_TOKEN_REFUSED', 'the gateway does not take the token')
  }

  // `pid` is known where the data folder says so.
  return { address, pid, note, reach, notReady, statusOf, admission, admin, status }
}

/** A header has no fractions of a second, so only a certain difference counts. It is positive where the other clock is ahead. */
export function skewOf(date: number, startedAt: number, answeredAt: number): number {
  if (date > answeredAt) return date - answeredAt
  return Math.min(0, date + 999 - startedAt)
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}
