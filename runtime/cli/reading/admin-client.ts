/** Connects to a running gateway: finds its address and token, and turns its answers into values or failures. */

import type { Configuration, Settings } from '@reveille/engine'
import { addressOf, findGateway } from '../../gateway-file.ts'
import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import { CommandFailure } from '../command-failure.ts'
import { findConfiguration, loadOrFail, shownPath } from '../configuration.ts'
import { type Io, wrapText } from '../io.ts'
import { programName } from '../pasted.ts'

/** How long one answer may take. Milliseconds. */
const answerMs = 10_000
/** How long an action may take, such as compiling thousands of mappings or starting plugins. Milliseconds. */
export const doneMs = 300_000

/** After this time it is said that an action takes long. Milliseconds. */
const noteMs = 3_000

export type Query = Readonly<Record<string, string | number | undefined>>

type Request = Omit<RequestInit, 'signal'>

export type Admin = ReturnType<typeof createAdmin>

interface Asked {
  /** How long the answer may take, in milliseconds. */
  readonly ms?: number
  /** Error statuses that are answers too. */
  readonly accepted?: readonly number[]
}

/** No gateway answers, or none in time. */
export class GatewayUnreachable extends CommandFailure {
  constructor(message: string, options?: ErrorOptions) {
    super(1, message, options)
    this.name = 'GatewayUnreachable'
  }
}

/** Where a gateway listens, and the token of its admin surface. */
export interface Connection {
  readonly address: string
  readonly token: string | undefined
  /** Where the token comes from, as an operator calls it. */
  readonly tokenSource: string
  /** The gateway's process, where its data folder names it. */
  readonly pid?: number
  /** The process of the data folder's last gateway, where it died without a word. */
  readonly endedPid?: number
  /** What the operator should know about this connection. */
  readonly note?: {
    readonly code: 'RESTART_DUE' | 'GATEWAY_FILE_UNTRUSTED'
    /** Without a full stop. */
    readonly text: string
  }
}

/** `--config` wins; else REVEILLE_URL and REVEILLE_GATEWAY_TOKEN; else ./reveille.yaml. */
export async function openAdmin(options: { config?: string }, io: Io): Promise<Admin> {
  const connection = await connectionOf(options, io)
  if (connection.note !== undefined) io.err(`${wrapText(`${connection.note.text}.`, io)}\n`)
  return createAdmin(connection, io)
}

export function createAdmin({ address, token, tokenSource, pid, endedPid }: Connection, io: Io) {
  async function ask(path: string, request: Request, ms = answerMs): Promise<Response> {
    try {
      return await io.fetch(`${address}${path}`, { ...request, signal: AbortSignal.timeout(ms) })
    } catch (cause) {
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      const message = isLate
        ? `The gateway at ${address} did not answer within ${ms / 1000} s.`
        : `No gateway answers at ${address}. ${endedPid === undefined ? 'Is it running?' : endedText(endedPid)}`
      throw new GatewayUnreachable(message, { cause })
    }
  }

  async function askAsAdmin(path: string, request: Request, asked: Asked = {}): Promise<unknown> {
    return bodyOf(await answerTo(path, request, asked))
  }

  /** Resolves with an answer that is none of an error, or one of an error that is accepted. */
  async function answerTo(path: string, request: Request, { ms, accepted = [] }: Asked): Promise<Response> {
    if (token === undefined) {
      throw new CommandFailure(
        1,
        `${tokenSource} is not set; the admin surface of ${address} accepts no request without it.`,
      )
    }
    const response = await ask(path, { ...request, headers: { authorization: `Bearer ${token}` } }, ms)
    if (response.ok || accepted.includes(response.status)) return response
    if (response.status === 401) {
      throw new CommandFailure(1, wrapText(refusedText({ address, tokenSource, pid }, io), io))
    }
    const said = sentenceOf(await bodyOf(response))
    throw new CommandFailure(1, said ?? `The gateway answered ${response.status} to ${path}.`)
  }

  return {
    address,
    /** @throws CommandFailure when the gateway does not answer, refuses the token or answers with an error */
    get: (path: string, query: Query = {}) => askAsAdmin(`${path}${search(query)}`, {}),
    /** The bytes of an answer that is no JSON. @throws CommandFailure as `get` does */
    bytes: async (path: string, query: Query = {}) =>
      (await answerTo(`${path}${search(query)}`, {}, { ms: doneMs })).bytes(),
    /** The status of the answer to a GET with the token. @throws CommandFailure when the gateway does not answer */
    async statusOf(path: string): Promise<number> {
      const response = await ask(path, { headers: { authorization: `Bearer ${token}` } })
      await response.body?.cancel()
      return response.status
    },
    /** Has an action performed. `accepted`: error statuses that are answers too. @throws CommandFailure as `get` does */
    post: (path: string, query: Query = {}, accepted: readonly number[] = []) =>
      withNote(askAsAdmin(`${path}${search(query)}`, { method: 'POST' }, { ms: doneMs, accepted }), io),
    /** Opens a stream of events, which has no end of its own. `lastId`: of the last event that was read. @throws CommandFailure as `get` does */
    async stream(
      path: string,
      { lastId, signal }: { readonly lastId: string | undefined; readonly signal: AbortSignal },
    ): Promise<AsyncIterable<Uint8Array>> {
      const headers = {
        accept: 'text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      }
      const response = await io.fetch(`${address}${path}`, { headers, signal }).catch((cause) => {
        throw new CommandFailure(1, `No gateway answers at ${address}. Is it running?`, { cause })
      })
      if (response.ok && response.body !== null) return response.body
      const text = sentenceOf(await bodyOf(response))
      if (response.status === 401)
        throw new CommandFailure(1, wrapText(refusedText({ address, tokenSource, pid }, io), io))
      const message = text ?? `The gateway answered ${response.status} to ${path}.`
      throw new CommandFailure(1, message, response.status >= 500 ? { cause: response.status } : {})
    },
    /** Sends a body as JSON. @throws CommandFailure as `get` does */
    sendJson: (method: 'POST' | 'PUT', path: string, body: object, asked: Asked = {}) =>
      askAsAdmin(path, { method, body: JSON.stringify(body) }, asked),
    /** A GET without the token. The status is part of the answer, because 503 is one. */
    async probe(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
      const response = await ask(path, {})
      return { status: response.status, body: await bodyOf(response) }
    },
  }
}

/** A person at a terminal learns that an action which takes long is under way. */
async function withNote<Answer>(action: Promise<Answer>, { columns, err }: Io): Promise<Answer> {
  if (columns === undefined) return action
  const note = setTimeout(() => err('The gateway is still at work …\n'), noteMs)
  return action.finally(() => clearTimeout(note))
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

/** The sentence about a gateway that was killed, or whose machine was. */
export function endedText(pid: number): string {
  return `The last one there, process ${pid}, is gone without having been stopped.`
}

/** A gateway that has not read its files since the token in them was changed knows the old token. */
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

/**
 * The address in REVEILLE_URL without a slash at its end, unless `--config` is given.
 * @throws CommandFailure where it is no URL
 */
export function namedAddress(options: { readonly config?: string }, { env }: Io): string | undefined {
  const url = env['REVEILLE_URL']
  if (options.config !== undefined || !url) return undefined
  if (!URL.canParse(url))
    throw new CommandFailure(2, 'REVEILLE_URL must be a URL, such as http://127.0.0.1:8787.')
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

/** The connection to the gateway that runs on the data folder, else to the address in the files. */
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
      const text = `${shownPath(found.file, io)} is not trusted: it ${found.why}`
      return { ...connection, address: configured, note: { code: 'GATEWAY_FILE_UNTRUSTED', text } }
    }
    case 'ended':
      return { ...connection, address: configured, endedPid: found.pid }
    case 'unknown':
      return { ...connection, address: configured }
  }
}

function search(query: Query): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? '' : `?${given}`
}

function bodyOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined)
}

/** The error of an answer as a sentence, followed by a line for each field that is wrong. */
function sentenceOf(body: unknown): string | undefined {
  const { error, details = [] } = (body ?? {}) as {
    error?: unknown
    details?: readonly { pointer: string; message: string }[]
  }
  if (typeof error !== 'string') return undefined
  return [error, ...details.map(({ pointer, message }) => `  ${pointer.slice(1)} ${message}`)].join('\n')
}

/**
 * Loads the block `gateway:` alone, because the rest takes ten times as long and may be broken.
 * @throws CommandFailure with all that is wrong, where the block cannot be used
 */
async function loadGatewaySettings(
  options: { readonly config?: string },
  io: Io,
): Promise<Pick<Configuration, 'settings'>> {
  const block = await loadGatewayBlock({ file: findConfiguration(options, io), env: io.env })
  return block ?? loadOrFail(options, io)
}
