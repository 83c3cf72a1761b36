/** Owns what a running gateway is asked, and how it is known whether one runs: each question once, for all checks. */

import type { GatewayStatus } from '../../api/index.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { type Admin, type Connection, createAdmin, endedText } from '../reading/admin-client.ts'
import { NotChecked } from './check.ts'

/** How long one answer may take. Milliseconds. */
const answerMs = 5_000

export type Reach =
  | { readonly is: 'there'; readonly skewMs?: number }
  /** Nobody listens, or nobody answers in time. */
  | { readonly is: 'silent'; readonly why: string }
  /** Something answers that is no gateway. */
  | { readonly is: 'foreign' }

export interface GatewayView {
  readonly address: string
  /** Where its data folder says so. */
  readonly pid?: number
  readonly note?: NonNullable<Connection['note']>
  reach(): Promise<Reach>
  /** Why it accepts nothing, in one sentence; undefined: it accepts. @throws NotChecked where no gateway answers */
  notReady(): Promise<string | undefined>
  /** The status of an answer to a GET without a token. @throws NotChecked where no gateway answers */
  statusOf(path: string): Promise<number>
  /** 401 where it takes another token; 404 where it has no admin surface. @throws NotChecked as `statusOf` */
  admission(): Promise<number>
  /** With the token of the configuration, which it takes. @throws NotChecked */
  admin(): Promise<Admin>
  /** @throws NotChecked */
  status(): Promise<GatewayStatus>
}

export function createGatewayView(connection: Connection, io: Io): GatewayView {
  const { address, token, pid, note, endedPid } = connection
  const admin = createAdmin(connection, io)
  const reach = once(probe)
  const admission = once(askForAdmission)
  const status = once(async () => (await view.admin()).get('/api/status') as Promise<GatewayStatus>)

  const ask = (path: string, headers: Record<string, string> = {}) =>
    io.fetch(`${address}${path}`, { headers, redirect: 'manual', signal: AbortSignal.timeout(answerMs) })

  async function probe(): Promise<Reach> {
    const asked = io.now()
    let response: Response
    try {
      response = await ask('/healthz')
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      return {
        is: 'silent',
        why: isLate
          ? `what listens at ${address} does not answer within ${answerMs / 1000} s`
          : `no gateway answers at ${address}${endedPid === undefined ? '' : `. ${endedText(endedPid).slice(0, -1)}`}`,
      }
    }
    const body = (await response.json().catch(() => undefined)) as { ok?: unknown } | null | undefined
    if (response.status !== 200 || body?.ok !== true) return { is: 'foreign' }
    const date = Date.parse(response.headers.get('date') ?? '')
    return Number.isNaN(date) ? { is: 'there' } : { is: 'there', skewMs: skewOf(date, asked, io.now()) }
  }

  /** Undefined where it does not say: another version, another token. */
  const healthOf = () => admin.get('/api/health').catch(() => undefined)

  async function mustAnswer(): Promise<void> {
    const { is } = await reach()
    if (is !== 'there') throw new NotChecked('GATEWAY_DOWN', 'no gateway answers')
  }

  async function askForAdmission(): Promise<number> {
    await mustAnswer()
    const response = await ask('/api/status', { authorization: `Bearer ${token}` })
    await response.body?.cancel()
    // It takes the token, and its store cannot be read.
    return response.status === 503 ? 200 : response.status
  }

  const view: GatewayView = {
    address,
    ...(pid !== undefined && { pid }),
    ...(note !== undefined && { note }),
    reach,
    admission,
    status,
    async notReady() {
      await mustAnswer()
      const response = await ask('/readyz')
      const body = (await response.json().catch(() => undefined)) as { reason?: string } | null | undefined
      if (response.status === 200) return undefined
      const health = token === undefined ? undefined : ((await healthOf()) as { reason?: string } | undefined)
      return health?.reason ?? body?.reason ?? `it answers ${response.status}`
    },
    async statusOf(path) {
      await mustAnswer()
      const response = await ask(path)
      await response.body?.cancel()
      return response.status
    },
    async admin() {
      if (token === undefined) {
        await mustAnswer()
        throw new NotChecked('NO_ADMIN_TOKEN', 'without `gateway.auth.token` nobody may ask the gateway')
      }
      if ((await admission()) === 200) return admin
      throw new NotChecked('ADMIN_TOKEN_REFUSED', 'the gateway does not take the token')
    },
  }
  return view
}

/** What starts a gateway of this configuration. */
export function startCommand(io: Io): string {
  return `Start it: ${pasted('start', io)}`
}

/** A header has no fractions of a second: only what is certainly off counts. Positive: the other clock is ahead. */
export function skewOf(date: number, asked: number, answered: number): number {
  if (date > answered) return date - answered
  return Math.min(0, date + 999 - asked)
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}
