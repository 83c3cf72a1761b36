/** Serves one call from its request to its answer, and records it. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkBody, readQuery } from '../description/check.ts'
import { describeGoogle } from '../description/operations.ts'
import { parseSelection, select } from '../description/selection.ts'
import type { Call, Fault } from '../google.ts'
import type { Handlers } from '../handler.ts'
import type { AccessToken, Grants } from '../oauth/grants.ts'
import { badRequest, Refusal, refusal } from '../refusal.ts'
import { createFaults, missingScope, refusalOf } from './faults.ts'
import { findRoute, type Route } from './router.ts'

type Described = Extract<Route, { kind: 'described' }>

/** An endpoint that Google describes in words. It checks its form first, and then its content. */
export type PlainHandler = (query: URLSearchParams, body: string) => { act(): Promise<Answer> | Answer }

export interface Answer {
  readonly status: number
  /** An object is sent as JSON. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServerOptions {
  readonly handlers: Handlers
  readonly plain: Readonly<Record<string, PlainHandler>>
  readonly grants: Grants
  readonly project: string
  now(): number
  /** Called when a call has come, and when it is over. */
  onCall(): void
}

type OpenCall = { -readonly [Key in keyof Call]: Call[Key] }

const bodyLimit = 1 << 20

export async function openServer(options: ServerOptions) {
  const { handlers, plain, grants, project, now, onCall } = options
  const faults = createFaults()
  const calls: OpenCall[] = []
  const mistakes: string[] = []

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://google')
    const method = incoming.method ?? 'GET'
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const text = await read(incoming)
    const route = findRoute(method, url.pathname)
    const call: OpenCall = {
      operation: route.id,
      method,
      path: url.pathname,
      query: Object.fromEntries(
        [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)]),
      ),
      body: readBody(incoming, text),
      status: 0,
      at: now(),
    }
    calls.push(call)
    onCall()

    function recordMistake(why: string): void {
      mistakes.push(`${route.id === 'unknown' ? `${method} ${url.pathname}` : route.id}: ${why}`)
    }

    function end({ status, body, headers = {} }: Answer): void {
      call.status = status
      const isText = typeof body === 'string'
      const type = isText ? 'text/html; charset=utf-8' : 'application/json; charset=UTF-8'
      const content = status === 204 ? '' : isText ? body : JSON.stringify(body, undefined, 2)
      response.writeHead(status, status === 204 ? headers : { 'content-type': type, ...headers })
      response.end(content)
    }

    try {
      const act = prepare(route, url.searchParams, incoming, text, gone.signal)
      const fault = faults.take(route.id)
      const isAnswered = await meet(fault, route.id, gone.signal, act, end)
      if (!isAnswered) response.destroy()
    } catch (error) {
      if (!(error instanceof Refusal)) {
        recordMistake(`the fake Google failed: ${String(error instanceof Error ? error.stack : error)}`)
        end({ status: 599, body: String(error) })
        return
      }
      if (error.isWrong) recordMistake(error.message)
      end(error)
    }
  }

  /** Returns false if the connection is to be cut. */
  async function meet(
    fault: Fault | undefined,
    id: string,
    gone: AbortSignal,
    act: () => Promise<Answer> | Answer,
    end: (answer: Answer) => void,
  ): Promise<boolean> {
    if (fault === undefined) {
      end(await act())
    } else if ('status' in fault) {
      throw refusalOf(id, fault, project)
    } else if ('cut' in fault) {
      // A refusal would not be received either.
      if (fault.cut === 'after') await attempt(act)
      return false
    } else if ('hang' in fault) {
      if (!gone.aborted) await once(gone, 'abort')
    } else if ('garbage' in fault) {
      end({
        status: 200,
        body: fault.garbage,
        headers: { 'content-type': 'application/json; charset=UTF-8' },
      })
    } else {
      await fault.until
      end(await act())
    }
    return true
  }

  /** Checks everything about the request that does not depend on state. @throws Refusal */
  function prepare(
    route: Route,
    query: URLSearchParams,
    incoming: IncomingMessage,
    text: string,
    signal: AbortSignal,
  ): () => Promise<Answer> | Answer {
    switch (route.kind) {
      case 'unknown':
        throw refusal(route.service, {
          code: 404,
          message: 'Method not found.',
          said: `Method not found: ${route.why}`,
          isWrong: true,
        })
      case 'plain': {
        const handler = plain[route.id]
        if (handler === undefined) throw new Error(`Nobody answers ${route.id}.`)
        if (text !== '' && !isOf(incoming, 'application/x-www-form-urlencoded')) {
          throw new Refusal(
            'The form is of another type.',
            400,
            { error: 'invalid_request' },
            { isWrong: true },
          )
        }
        return handler(query, text).act
      }
      case 'described':
        return prepareDescribed(route, query, incoming, text, signal)
    }
  }

  function prepareDescribed(
    { operation, path, id }: Described,
    query: URLSearchParams,
    incoming: IncomingMessage,
    text: string,
    signal: AbortSignal,
  ): () => Promise<Answer> {
    const { service } = operation
    const token = authenticate(incoming, service)
    if (!operation.scopes.some((scope) => token.scopes.includes(scope))) {
      // A person may leave scopes out, which is not the caller's mistake.
      throw refusal(service, { ...missingScope(service, id), isWrong: !token.grant.isPartial })
    }
    if (text !== '' && ['GET', 'DELETE'].includes(operation.method)) {
      throw refusal(service, {
        code: 400,
        message: 'Your client has issued a malformed or illegal request.',
        isWrong: true,
      })
    }
    const { values, violations } = readQuery(operation, query)
    const body = parse(service, incoming, text)
    const schemas = describeGoogle().schemas[service]
    violations.push(...checkBody(operation, body, { schemas, bound: operation.inPath }))
    if (violations.length > 0) throw badRequest(service, violations)
    const unsupported = [
      ...['callback', 'access_token', 'oauth_token', 'key'],
      ...['uploadType', 'upload_protocol'],
    ].find((name) => query.has(name))
    const handler = handlers[id]
    if (handler === undefined || unsupported !== undefined || (query.get('alt') ?? 'json') !== 'json') {
      const message = `The fake Google does not know ${unsupported ?? id}.`
      throw refusal(service, { code: 501, message, isWrong: true })
    }
    const fields = query.get('fields') ?? '*'
    const selection = parseSelection(fields, operation.answer, schemas)
    if (selection === undefined) {
      throw refusal(service, { code: 400, message: `Invalid field selection ${fields}`, isWrong: true })
    }
    const { grant, scopes } = token
    return async () => {
      const caller = { account: grant.account, scopes, grant }
      const answer = await handler({ path, query: values, body: body ?? {}, caller, signal })
      if (answer === undefined) return { status: 204, body: '' }
      return { status: 200, body: select(answer, selection) as object }
    }
  }

  function authenticate(incoming: IncomingMessage, service: 'gmail' | 'pubsub'): AccessToken {
    const [, text] = /^Bearer ([\w.~+/-]+=*)$/i.exec(incoming.headers.authorization ?? '') ?? []
    const expected =
      'Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.'
    const location = { location: 'Authorization', locationType: 'header' }
    const info = (reason: string) => [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason,
        domain: 'googleapis.com',
        metadata: { service: `${service}.googleapis.com` },
      },
    ]
    const headers = { 'www-authenticate': 'Bearer realm="https://accounts.google.com/"' }
    if (text === undefined) {
      throw refusal(service, {
        code: 401,
        message: `Request is missing required authentication credential. ${expected}`,
        reason: 'required',
        said: 'Login Required.',
        location,
        details: info('CREDENTIALS_MISSING'),
        isWrong: true,
        headers,
      })
    }
    const token = grants.accessToken(text)
    if (token !== undefined && !token.grant.isRevoked && token.endsAt > now()) return token
    throw refusal(service, {
      code: 401,
      message: `Request had invalid authentication credentials. ${expected}`,
      reason: 'authError',
      said: 'Invalid Credentials',
      location,
      details: info('ACCESS_TOKEN_EXPIRED'),
      // A token that was good before is not the caller's mistake.
      isWrong: token === undefined,
      headers: { 'www-authenticate': `${headers['www-authenticate']}, error="invalid_token"` },
    })
  }

  function parse(service: 'gmail' | 'pubsub', incoming: IncomingMessage, text: string): unknown {
    if (text === '') return undefined
    if (!isOf(incoming, 'application/json')) {
      const message = `Invalid content type: ${incoming.headers['content-type'] ?? 'none'}`
      throw refusal(service, { code: 400, message, isWrong: true })
    }
    try {
      return JSON.parse(text)
    } catch {
      throw badRequest(service, [
        {
          field: '',
          description: `Invalid JSON payload received. Unexpected token.\n${text.slice(0, 40)}\n^`,
        },
      ])
    }
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response)
      .catch(() => response.destroy())
      .finally(onCall)
  })
  // An open connection must not keep the process alive; the server does, until it is closed.
  server.on('connection', (socket) => socket.unref())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  let closed: Promise<unknown> | undefined

  return {
    url: `http://127.0.0.1:${port}`,
    calls: calls as readonly Call[],
    mistakes: mistakes as readonly string[],
    fail: faults.add,
    async close(): Promise<void> {
      closed ??= once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function attempt(act: () => Promise<Answer> | Answer): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length
    if (size > bodyLimit) throw new Error('The body is too large.')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function isOf(incoming: IncomingMessage, type: string): boolean {
  return (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() === type
}

/** Describes an answer for the record of calls. */
function readBody(incoming: IncomingMessage, text: string): unknown {
  if (isOf(incoming, 'application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(text))
  try {
    return JSON.parse(text)
  } catch {
    return text === '' ? undefined : text
  }
}
