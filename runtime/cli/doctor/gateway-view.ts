/** Asks the running gateway, if there is one. Each question is asked once for all checks. */

import { type Client, type Connection, createClient, endedText } from '../client.ts'
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
  | { readonly is: 'there'; readonly skewMs?: number }
  /** No server listens there, or it does not answer in time. */
  | { readonly is: 'silent'; readonly why: string }
  /** A server answers that is not a gateway. */
  | { readonly is: 'foreign' }

export type GatewayView = ReturnType<typeof createGatewayView>

export function createGatewayView(connection: Connection, io: Io) {
  const { address, token, pid, note, endedPid } = connection
  const known = createClient(connection, io)
  const reach = once(probe)
  /** Returns 401 where it accepts another token, and 404 where it has no admin surface. @throws NotChecked as `statusOf` */
  const admission = once(async () => {
    const status = await statusOf('/api/status', { authorization: `Bearer ${token}` })
    // The gateway accepts the token, but cannot read its store.
    return status === 503 ? 200 : status
  })
  const status = once(async () => (await admin()).ask('readStatus'))

  const ask = (path: string, headers: Record<string, string> = {}) =>
    io.fetch(`${address}${path}`, { headers, redirect: 'manual', signal: AbortSignal.timeout(answerMs) })

  async function probe(): Promise<Reach> {
    const asked = io.now()
    let response: Response
    try {
      response = await ask('/healthz')
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        const why = `what listens at ${address} does not answer within ${answerMs / 1000} s`
        return { is: 'silent', why }
      }
      const end = endedPid === undefined ? '' : `. ${endedText(endedPid).slice(0, -1)}`
      return { is: 'silent', why: `no gateway answers at ${address}${end}` }
    }
    const body = (await response.json().catch(() => undefined)) as { ok?: unknown } | null | undefined
    if (response.status !== 200 || body?.ok !== true) return { is: 'foreign' }
    const date = Date.parse(response.headers.get('date') ?? '')
    return Number.isNaN(date) ? { is: 'there' } : { is: 'there', skewMs: skewOf(date, asked, io.now()) }
  }

  async function mustAnswer(): Promise<void> {
    if ((await reach()).is !== 'there') throw new NotChecked('GATEWAY_DOWN', 'no gateway answers')
  }

  /** Says in one sentence why it accepts nothing; undefined where it accepts. @throws NotChecked where no gateway answers */
  async function notReady(): Promise<string | undefined> {
    await mustAnswer()
    const { status, body } = await known.probe('/readyz')
    if (status === 200) return undefined
    // A gateway with another token does not say.
    const health = token === undefined ? undefined : await known.ask('readHealth').catch(() => undefined)
    const { reason } = (body ?? {}) as { readonly reason?: string }
    return health?.reason ?? reason ?? `it answers ${status}`
  }

  /** Returns the status of a GET without a token. @throws NotChecked where no gateway answers */
  async function statusOf(path: string, headers?: Record<string, string>): Promise<number> {
    await mustAnswer()
    const response = await ask(path, headers)
    await response.body?.cancel()
    return response.status
  }

  /** Asks with the token of the configuration. @throws NotChecked where the gateway refuses it */
  async function admin(): Promise<Client> {
    if (token === undefined) {
      await mustAnswer()
      throw new NotChecked('NO_ADMIN_TOKEN', 'without `gateway.auth.token` the gateway cannot be asked')
    }
    if ((await admission()) === 200) return known
    throw new NotChecked('ADMIN_TOKEN_REFUSED', 'the gateway does not take the token')
  }

  return {
    address,
    /** Known where the data folder says so. */
    pid,
    note,
    reach,
    notReady,
    statusOf: (path: string) => statusOf(path),
    admission,
    admin,
    /** @throws NotChecked */
    status,
  }
}

/** A header has no fractions of a second, so only a certain difference counts. It is positive where the other clock is ahead. */
export function skewOf(date: number, asked: number, answered: number): number {
  if (date > answered) return date - answered
  return Math.min(0, date + 999 - asked)
}

export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}
