/** Owns the way to a running gateway: its address, its token, and what its answers mean. */

import type { Settings } from '@reveille/engine'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import { loadGatewaySettings } from './gateway-settings.ts'

/** How long one answer may take. Milliseconds. */
const answerMs = 10_000
/** How long something may take that is to be done: thousands of mappings are compiled, plugins are started. */
const doneMs = 300_000

type Query = Readonly<Record<string, string | undefined>>

export interface Admin {
  readonly address: string
  /** @throws CommandFailure when the gateway is not there, refuses the token or has no such thing */
  get(path: string, query?: Query): Promise<unknown>
  /** Asks for something to be done. `accepted`: statuses that are answers too. @throws CommandFailure as `get` does */
  post(path: string, query?: Query, accepted?: readonly number[]): Promise<unknown>
  /** Hands something over. `accepted` as for `post`. @throws CommandFailure as `get` does */
  give(method: 'POST' | 'PUT', path: string, body: object, accepted?: readonly number[]): Promise<unknown>
  /** Needs no token; answers the status too, because 503 says something. */
  probe(path: string): Promise<{ readonly status: number; readonly body: unknown }>
}

/** Where a gateway is, and what opens its admin surface. */
export interface Connection {
  readonly address: string
  readonly token: string | undefined
  /** Where the token comes from, for the operator. */
  readonly tokenSource: string
}

/** `--config` wins; else REVEILLE_URL and REVEILLE_GATEWAY_TOKEN; else ./reveille.yaml. */
export async function openAdmin(options: { config?: string }, io: Io): Promise<Admin> {
  return createAdmin(await connectionOf(options, io), io)
}

export function createAdmin({ address, token, tokenSource }: Connection, io: Io): Admin {
  async function ask(path: string, request: RequestInit, ms = answerMs): Promise<Response> {
    try {
      return await io.fetch(`${address}${path}`, { ...request, signal: AbortSignal.timeout(ms) })
    } catch (cause) {
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      const message = isLate
        ? `The gateway at ${address} did not answer within ${ms / 1000} s.`
        : `No gateway answers at ${address}. Is it running?`
      throw new CommandFailure(1, message, { cause })
    }
  }

  async function askAsAdmin(
    path: string,
    request: RequestInit,
    { ms, accepted = [] }: { ms?: number; accepted?: readonly number[] } = {},
  ): Promise<unknown> {
    if (token === undefined) {
      throw new CommandFailure(
        1,
        `${tokenSource} is not set; the admin surface of ${address} takes nobody without it.`,
      )
    }
    const response = await ask(path, { ...request, headers: { authorization: `Bearer ${token}` } }, ms)
    const body = await bodyOf(response)
    if (response.ok || accepted.includes(response.status)) return body
    if (response.status === 401) {
      throw new CommandFailure(1, `The gateway at ${address} refused the token from ${tokenSource}.`)
    }
    throw new CommandFailure(1, sentenceOf(body) ?? `The gateway answered ${response.status} to ${path}.`)
  }

  return {
    address,
    get: (path, query = {}) => askAsAdmin(`${path}${search(query)}`, {}),
    post: (path, query = {}, accepted = []) =>
      askAsAdmin(`${path}${search(query)}`, { method: 'POST' }, { ms: doneMs, accepted }),
    give: (method, path, body, accepted = []) =>
      askAsAdmin(path, { method, body: JSON.stringify(body) }, { accepted }),
    async probe(path) {
      const response = await ask(path, {})
      return { status: response.status, body: await bodyOf(response) }
    },
  }
}

async function connectionOf(options: { config?: string }, io: Io): Promise<Connection> {
  const address = namedAddress(options, io)
  if (address !== undefined) {
    return {
      address,
      token: io.env['REVEILLE_GATEWAY_TOKEN'] || undefined,
      tokenSource: 'REVEILLE_GATEWAY_TOKEN',
    }
  }
  const { settings } = await loadGatewaySettings(options, io)
  return connectionTo(settings)
}

/** That of REVEILLE_URL, which `--config` wins over, without a slash at its end. @throws CommandFailure where it is none */
export function namedAddress(options: { readonly config?: string }, { env }: Io): string | undefined {
  const url = env['REVEILLE_URL']
  if (options.config !== undefined || !url) return undefined
  if (!URL.canParse(url))
    throw new CommandFailure(2, 'REVEILLE_URL must be a URL, such as http://127.0.0.1:8787.')
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

export function connectionTo({ gateway: { host, port, token }, file }: Settings): Connection {
  return {
    address: `http://${reachable(host)}:${port}`,
    token,
    tokenSource: `gateway.auth.token of ${file}`,
  }
}

/** The address that listens everywhere is no address to call. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function search(query: Query): string {
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

/** With the fields that are wrong, each on a line of its own. */
function sentenceOf(body: unknown): string | undefined {
  const { error, details = [] } = (body ?? {}) as {
    error?: unknown
    details?: readonly { pointer: string; message: string }[]
  }
  if (typeof error !== 'string') return undefined
  return [error, ...details.map(({ pointer, message }) => `  ${pointer.slice(1)} ${message}`)].join('\n')
}
