/** Connects to a running gateway: finds its address and token, and asks its API by the names of its routes. */

import type { Configuration, Settings } from '@reveille/engine'
import { type Answer, type Asked, type RouteName, requestOf } from '../api/routes/client.ts'
import { addressOf, findGateway } from '../gateway-file.ts'
import { loadGatewayBlock } from '../reload/gateway-block.ts'
import { badUsage, CommandFailure, failure, sentence } from './command-failure.ts'
import { findConfiguration, loadOrFail, shownPath } from './configuration.ts'
import type { Io } from './io.ts'

/** Milliseconds that an answer may take. */
const answerMs = 10_000
/** Milliseconds that an action may take, such as compiling thousands of mappings or starting plugins. */
const doneMs = 300_000
/** After this time a person learns that an action takes long. Milliseconds. */
const noteMs = 3_000

export type Client = ReturnType<typeof createClient>

/** The answer to an order that cannot be carried out. */
export interface Refused {
  readonly ok: false
  readonly error: string
  readonly code: string
}

/** No gateway answers, or none in time. */
export class GatewayUnreachable extends CommandFailure {
  /** The message as a clause, without advice. */
  readonly why: string

  constructor(why: string, advice: string, cause: unknown) {
    super(1, `${sentence(why)}${advice}`, { cause })
    this.name = 'GatewayUnreachable'
    this.why = why
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
  /** A notice for the operator about this connection. */
  readonly note?: {
    readonly code: 'RESTART_DUE' | 'GATEWAY_FILE_UNTRUSTED'
    /** Without a full stop. */
    readonly text: string
  }
}

/** `--config` wins; else REVEILLE_URL and REVEILLE_GATEWAY_TOKEN; else the configuration that is found. */
export async function openClient(io: Io): Promise<Client> {
  const named = namedAddress(io)
  const connection =
    named === undefined
      ? await connectionTo((await loadGatewaySettings(io)).settings, io)
      : {
          address: named,
          token: io.env['REVEILLE_GATEWAY_TOKEN'] || undefined,
          tokenSource: 'REVEILLE_GATEWAY_TOKEN',
        }
  if (connection.note !== undefined) io.err(`${connection.note.text}.\n`)
  return createClient(connection, io)
}

/** `limitMs`: how long an answer may take. */
export function createClient(connection: Omit<Connection, 'note'>, io: Io, limitMs = answerMs) {
  const { address, token, tokenSource } = connection
  const authorization = { authorization: `Bearer ${token}` }

  async function reach(path: string, request: RequestInit, ms = limitMs): Promise<Response> {
    try {
      return await io.fetch(`${address}${path}`, { signal: AbortSignal.timeout(ms), ...request })
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'TimeoutError')
        throw new GatewayUnreachable(
          `the gateway at ${address} did not answer within ${ms / 1000} s`,
          '',
          cause,
        )
      throw new GatewayUnreachable(`no gateway answers at ${address}`, ' Is it running?', cause)
    }
  }

  /** @throws CommandFailure for an error, unless its status is accepted */
  async function answerTo(
    path: string,
    request: RequestInit,
    accepted: readonly number[] = [],
    ms = limitMs,
  ): Promise<Response> {
    if (token === undefined) {
      const message = `${tokenSource} is not set; the admin surface of ${address} accepts no request without it.`
      throw failure(message)
    }
    const response = await reach(path, { ...request, headers: { ...request.headers, ...authorization } }, ms)
    if (response.ok || accepted.includes(response.status)) return response
    if (response.status === 401) throw failure(refusedText(connection))
    const message =
      sentenceOf(await bodyOf(response)) ?? `The gateway answered ${response.status} to ${path}.`
    throw failure(message, response.status >= 500 ? { cause: response.status } : {})
  }

  /** Asks a route. `accepted`: statuses of errors that are answers too. @throws CommandFailure */
  async function ask<Name extends RouteName>(
    name: Name,
    asked: Asked<Name> = {},
    accepted: readonly number[] = [],
  ): Promise<Answer<Name>> {
    const { method, address } = requestOf(name, asked)
    const { body } = asked
    const request = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    if (method === 'GET') return (await bodyOf(await answerTo(address, request, accepted))) as Answer<Name>
    const doing = answerTo(address, request, accepted, doneMs).then(bodyOf)
    return (await withNote(doing, io)) as Answer<Name>
  }

  return {
    address,
    ask,
    /** Gives an order that may be refused, which is an answer too. @throws CommandFailure for other errors */
    order: <Name extends RouteName>(name: Name, asked: Asked<Name> = {}): Promise<Answer<Name> | Refused> =>
      ask(name, asked, [404, 409, 413, 503]),
    /** The bytes of an answer that is no JSON. @throws CommandFailure */
    bytes: async <Name extends RouteName>(name: Name, asked: Asked<Name>): Promise<Uint8Array> =>
      (await answerTo(requestOf(name, asked).address, {}, [], doneMs)).bytes(),
    /** Opens the stream of events, which has no end of its own. `lastId`: the last event that was read. @throws CommandFailure */
    async stream(lastId: string | undefined, signal: AbortSignal) {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      }
      const { body } = await answerTo('/api/stream', { headers, signal })
      return body ?? ReadableStream.from([])
    },
    /** A GET, whose status is part of the answer. `date`: the time that it names; NaN without one. @throws GatewayUnreachable */
    async probe(path: string, showsToken = false) {
      const response = await reach(path, showsToken ? { headers: authorization } : {})
      const body = (await bodyOf(response)) as Readonly<Record<string, unknown>> | null | undefined
      return { status: response.status, body, date: Date.parse(response.headers.get('date') ?? '') }
    },
  }
}

/** A person at a terminal learns that an action which takes long is under way. */
async function withNote<Value>(action: Promise<Value>, { columns, err }: Io): Promise<Value> {
  if (columns === undefined) return action
  const note = setTimeout(() => err('The gateway is still at work …\n'), noteMs)
  return action.finally(() => clearTimeout(note))
}

/** A gateway that has not read its files since the token in them was changed knows the old token. */
function refusedText({ address, tokenSource, pid }: Connection): string {
  const refused = `The gateway at ${address} refused the token from ${tokenSource}.`
  if (tokenSource === 'REVEILLE_GATEWAY_TOKEN') return refused
  return [
    refused,
    `If the token was changed since the gateway read its files, \`kill -HUP ${pid ?? 'PID'}\` has it read them; or show it the old one:`,
    `\`REVEILLE_URL=${address} REVEILLE_GATEWAY_TOKEN=OLD reveille reload\`.`,
  ].join(' ')
}

/**
 * The address in REVEILLE_URL without a slash at its end, unless `--config` is given.
 * @throws CommandFailure where it is no URL
 */
export function namedAddress({ env, config }: Io): string | undefined {
  const url = env['REVEILLE_URL']
  if (config !== undefined || !url) return undefined
  if (!URL.canParse(url)) throw badUsage('REVEILLE_URL must be a URL, such as http://127.0.0.1:8787.')
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

/** The connection to the gateway that runs on the data folder, else to the address in the files. */
export async function connectionTo(settings: Settings, io: Io): Promise<Connection> {
  const { gateway, file } = settings
  const configured = addressOf(gateway.host, gateway.port)
  const connection = {
    address: configured,
    token: gateway.tokens[0],
    tokenSource: `gateway.auth.token of ${file}`,
  }
  const found = await findGateway(settings)
  switch (found.state) {
    case 'running': {
      const text = `The gateway runs at ${found.address}, and ${shownPath(file, io)} says ${configured}: a restart is due`
      const note = found.isRestartDue && ({ code: 'RESTART_DUE', text } as const)
      return { ...connection, address: found.address, pid: found.pid, ...(note && { note }) }
    }
    case 'untrusted': {
      const text = `${shownPath(found.file, io)} is not trusted: it ${found.why}`
      return { ...connection, note: { code: 'GATEWAY_FILE_UNTRUSTED', text } }
    }
    case 'unknown':
      return connection
  }
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
async function loadGatewaySettings(io: Io): Promise<Pick<Configuration, 'settings'>> {
  const block = await loadGatewayBlock({ file: findConfiguration(io), env: io.env })
  return block ?? loadOrFail(io)
}
