/** Owns the way to a running gateway: its address, its token, and what its answers mean. */

import { CommandFailure } from '../command-failure.ts'
import { loadOrFail } from '../configuration.ts'
import type { Io } from '../io.ts'

/** How long one answer may take. Milliseconds. */
const answerMs = 10_000

export interface Admin {
  readonly address: string
  /** @throws CommandFailure when the gateway is not there, refuses the token or has no such thing */
  get(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>
  /** Needs no token; answers the status too, because 503 says something. */
  probe(path: string): Promise<{ readonly status: number; readonly body: unknown }>
}

interface Connection {
  readonly address: string
  readonly token: string | undefined
  /** Where the token comes from, for the operator. */
  readonly tokenSource: string
}

/** `--config` wins; else REVEILLE_URL and REVEILLE_GATEWAY_TOKEN; else ./reveille.yaml. */
export async function openAdmin(options: { config?: string }, io: Io): Promise<Admin> {
  const { address, token, tokenSource } = await connectionOf(options, io)

  async function ask(path: string, headers: Record<string, string>): Promise<Response> {
    try {
      return await io.fetch(`${address}${path}`, { headers, signal: AbortSignal.timeout(answerMs) })
    } catch (cause) {
      throw new CommandFailure(1, `No gateway answers at ${address}. Is it running?`, { cause })
    }
  }

  return {
    address,
    async get(path, query = {}) {
      if (token === undefined) {
        throw new CommandFailure(
          1,
          `${tokenSource} is not set; the admin surface of ${address} takes nobody without it.`,
        )
      }
      const response = await ask(`${path}${search(query)}`, { authorization: `Bearer ${token}` })
      const body = await bodyOf(response)
      if (response.ok) return body
      if (response.status === 401) {
        throw new CommandFailure(1, `The gateway at ${address} refused the token from ${tokenSource}.`)
      }
      throw new CommandFailure(1, sentenceOf(body) ?? `The gateway answered ${response.status} to ${path}.`)
    },
    async probe(path) {
      const response = await ask(path, {})
      return { status: response.status, body: await bodyOf(response) }
    },
  }
}

async function connectionOf(options: { config?: string }, io: Io): Promise<Connection> {
  const url = io.env['REVEILLE_URL']
  if (options.config === undefined && url) {
    if (!URL.canParse(url))
      throw new CommandFailure(2, 'REVEILLE_URL must be a URL, such as http://127.0.0.1:8787.')
    const { origin, pathname } = new URL(url)
    return {
      address: `${origin}${pathname.replace(/\/+$/, '')}`,
      token: io.env['REVEILLE_GATEWAY_TOKEN'] || undefined,
      tokenSource: 'REVEILLE_GATEWAY_TOKEN',
    }
  }
  const { settings } = await loadOrFail(options, io)
  const { host, port, token } = settings.gateway
  return {
    address: `http://${reachable(host)}:${port}`,
    token,
    tokenSource: `gateway.auth.token of ${settings.file}`,
  }
}

/** The address that listens everywhere is no address to call. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function search(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

function sentenceOf(body: unknown): string | undefined {
  const error = (body as { error?: unknown } | undefined)?.error
  return typeof error === 'string' ? error : undefined
}
