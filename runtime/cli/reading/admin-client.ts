/** Owns the way to a running gateway: its address, its token, and what its answers mean. */

import type { Settings } from '@reveille/engine'
import { addressOf, findGateway } from '../../gateway-file.ts'
import { CommandFailure } from '../command-failure.ts'
import { shownPath } from '../configuration.ts'
import { broken, type Io } from '../io.ts'
import { programName } from '../pasted.ts'
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
  /** The status of the answer to a GET with the token. @throws CommandFailure when the gateway is not there */
  statusOf(path: string): Promise<number>
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
  /** Of the gateway, where its data folder says so. */
  readonly pid?: number
  /** Of the last gateway of the data folder, where it is gone and could not say so. */
  readonly endedPid?: number
  /** What the operator should know of the way there. */
  readonly note?: {
    readonly code: 'RESTART_DUE' | 'GATEWAY_FILE_UNTRUSTED'
    /** Without a full stop. */
    readonly text: string
  }
}

/** `--config` wins; else REVEILLE_URL and REVEILLE_GATEWAY_TOKEN; else ./reveille.yaml. */
export async function openAdmin(options: { config?: string }, io: Io): Promise<Admin> {
  const connection = await connectionOf(options, io)
  if (connection.note !== undefined) io.err(`${broken(`${connection.note.text}.`, io)}\n`)
  return createAdmin(connection, io)
}

export function createAdmin({ address, token, tokenSource, pid, endedPid }: Connection, io: Io): Admin {
  async function ask(path: string, request: RequestInit, ms = answerMs): Promise<Response> {
    try {
      return await io.fetch(`${address}${path}`, { ...request, signal: AbortSignal.timeout(ms) })
    } catch (cause) {
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      const message = isLate
        ? `The gateway at ${address} did not answer within ${ms / 1000} s.`
        : `No gateway answers at ${address}. ${endedPid === undefined ? 'Is it running?' : endedText(endedPid)}`
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
      throw new CommandFailure(1, broken(refusedText({ address, tokenSource, pid }, io), io))
    }
    throw new CommandFailure(1, sentenceOf(body) ?? `The gateway answered ${response.status} to ${path}.`)
  }

  return {
    address,
    get: (path, query = {}) => askAsAdmin(`${path}${search(query)}`, {}),
    async statusOf(path) {
      const response = await ask(path, { headers: { authorization: `Bearer ${token}` } })
      await response.body?.cancel()
      return response.status
    },
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
  return connectionTo(settings, io)
}

/** Of a gateway that was killed, or whose machine was. */
export function endedText(pid: number): string {
  return `The last one there, process ${pid}, is gone without having been stopped.`
}

/** A gateway that has not read its files since the token in them was changed knows the old one. */
function refusedText(
  { address, tokenSource, pid }: { address: string; tokenSource: string; pid: number | undefined },
  io: Io,
): string {
  const refused = `The gateway at ${address} refused the token from ${tokenSource}.`
  if (tokenSource === 'REVEILLE_GATEWAY_TOKEN') return refused
  return [
    refused,
    `If the token was changed since the gateway read its files, \`kill -HUP ${pid ?? 'PID'}\` has it read them; or show it the old one:`,
    `\`REVEILLE_URL=${address} REVEILLE_GATEWAY_TOKEN=OLD ${programName(io)} reload\`.`,
  ].join(' ')
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

/** The gateway that runs on the data folder, else where the files say. */
export async function connectionTo(settings: Settings, io: Io): Promise<Connection> {
  const { gateway, file } = settings
  const configured = addressOf(gateway.host, gateway.port)
  const connection = { token: gateway.tokens[0], tokenSource: `gateway.auth.token of ${file}` }
  const found = await findGateway(settings)
  switch (found.is) {
    case 'running': {
      const text = `The gateway runs at ${found.address}, and ${shownPath(file, io)} says ${configured}: a restart is due`
      const note = found.isRestartDue && ({ code: 'RESTART_DUE', text } as const)
      return { ...connection, address: found.address, pid: found.pid, ...(note && { note }) }
    }
    case 'untrusted': {
      const text = `${shownPath(found.file, io)} is not believed: it ${found.why}`
      return { ...connection, address: configured, note: { code: 'GATEWAY_FILE_UNTRUSTED', text } }
    }
    case 'ended':
      return { ...connection, address: configured, endedPid: found.pid }
    case 'unknown':
      return { ...connection, address: configured }
  }
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
