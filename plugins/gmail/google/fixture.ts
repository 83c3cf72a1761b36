/** Provides a scripted server in place of Google, and opens Google against it. */

import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import {
  createPluginFetch,
  type PluginError,
  PluginError as Refusal,
  type SourceStorage,
} from '@reveille/kit'
import { openFakeServer, failureOf as pluginErrorOf } from '@reveille/kit/fake-server'
import type { Credentials } from './credentials.ts'
import { openGmail } from './open.ts'

/**
 * One answer: `body` is sent as JSON, `raw` as it is. `cut` ends the connection in mid-answer, and `hang` never
 * answers.
 */
export interface Step {
  readonly status?: number
  readonly body?: unknown
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly cut?: true
  readonly hang?: true
  /** The answer waits for this promise. */
  readonly after?: Promise<unknown>
}

export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly authorization: string | undefined
  readonly body: unknown
}

export const secrets = {
  refresh: '1//refresh-token-of-ada',
  access: 'ya29.access-token-of-ada',
  client: 'GOCSPX-secret-of-the-client',
}

export const start = Date.parse('2026-01-15T12:00:00Z')

export const credentials: Credentials = {
  account: 'ada@example.com',
  clientId: '1234-abc.apps.googleusercontent.com',
  clientSecret: secrets.client,
  refreshToken: secrets.refresh,
  scopes: ['https://www.googleapis.com/auth/gmail.readonly'],
  accessToken: secrets.access,
  accessTokenExpiresAt: start + 3_600_000,
}

/** Answers as the token server does. */
export const tokens = (access: string, more: object = {}): Step => ({
  body: { access_token: access, expires_in: 3599, token_type: 'Bearer', ...more },
})

/** Answers with an error in Gmail's form. */
export const gmailError = (code: number, reason: string, message: string): Step => ({
  status: code,
  body: { error: { code, message, errors: [{ message, domain: 'global', reason }] } },
})

/** Answers with an error in the form of newer services. */
export const newerError = (
  code: number,
  status: string,
  message: string,
  details?: readonly object[],
): Step => ({ status: code, body: { error: { code, message, status, details } } })

/** Serves a script, which lists the answers of each route in order. The last answer of a route is repeated. */
export async function serveGoogle(script: Readonly<Record<string, readonly Step[]>>) {
  const calls: Seen[] = []
  const left = new Map(Object.entries(script).map(([route, steps]) => [route, [...steps]]))
  const waiting: (() => void)[] = []
  const server = await openFakeServer({
    async answer({ method, path, query, headers, text }) {
      const names = [...new Set(query.keys())]
      calls.push({
        method,
        path,
        query: Object.fromEntries(names.map((name) => [name, query.getAll(name)])),
        authorization: headers['authorization'],
        body: text.startsWith('{') ? JSON.parse(text) : text,
      })
      for (const wake of waiting.splice(0)) wake()
      const steps = left.get(`${method} ${path}`)
      const step = steps === undefined || steps.length < 2 ? steps?.[0] : steps.shift()
      return answerOf(step ?? { status: 418, body: `${method} ${path} is not in the script` })
    },
  })
  const { url } = server
  return {
    calls,
    url,
    baseUrls: { accounts: url, oauth: url, gmail: url },
    queries: () => calls.map(({ query }) => query),
    callsOf: (path: string) => calls.filter((call) => call.path.endsWith(path)),
    /** Resolves when this many calls have come. */
    async reached(count: number): Promise<void> {
      while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    [Symbol.asyncDispose]: server.close,
  }
}

async function answerOf({ after, hang, cut, status = 200, headers, raw, body }: Step) {
  await after
  if (hang) return 'hang'
  const text = raw ?? JSON.stringify(body ?? {})
  const type = raw === undefined ? 'application/json; charset=UTF-8' : 'text/html'
  return {
    status,
    headers: { 'content-type': type, ...headers },
    body: text,
    ...(cut && { end: 'cut' as const }),
  }
}

export interface OpenOptions {
  readonly credentials?: Partial<Credentials>
  readonly baseUrls?: Partial<Awaited<ReturnType<typeof serveGoogle>>['baseUrls']>
}

/** Opens Gmail as the plugin does, over the `fetch` that plugins get. */
export async function openScripted(
  script: Readonly<Record<string, readonly Step[]>>,
  options: OpenOptions = {},
) {
  const server = await serveGoogle(script)
  const host = createHost()
  const gmail = openGmail({
    credentials: { ...credentials, ...options.credentials },
    storage: host.storage,
    baseUrls: { ...server.baseUrls, ...options.baseUrls },
    fetch: host.fetch,
    clock: host.clock,
  })
  const profile = (signal = host.signal) => gmail.profile(signal)
  const refreshTokens = () =>
    server.callsOf('/token').map(({ body }) => new URLSearchParams(String(body)).get('refresh_token'))
  return { ...server, ...host, gmail, profile, refreshTokens }
}

/** Makes a fetch, a clock that does not move, and a disk in memory. */
export function createHost() {
  const time = { now: start }
  const disk = new Map<string, unknown>()
  const state = { isFull: false, writes: 0 }
  const storage: SourceStorage = {
    read: async (name) => structuredClone(disk.get(name)),
    async write(name, value) {
      if (state.isFull) throw new Refusal('The disk is full.', { code: 'kept-failed', retryable: true })
      state.writes += 1
      disk.set(name, structuredClone(value))
    },
  }
  const { signal } = new AbortController()
  const fetch = createPluginFetch({
    fetch: globalThis.fetch,
    log: { debug: () => undefined },
    owner: { plugin: 'gmail' },
    signal,
  })
  const clock = { now: () => time.now, sleep: () => Promise.reject(new Error('nothing here sleeps')) }
  return { time, disk, state, storage, fetch, clock, signal }
}

/** Returns the PluginError that the promise ends with, and asserts that no secret is found in it at any depth. */
export async function failureOf(promise: Promise<unknown>): Promise<PluginError> {
  const error = await pluginErrorOf(promise)
  assertNoSecret(error)
  return error
}

/** Asserts that the promise fails with this code, and returns its error. */
export async function fails(promise: Promise<unknown>, code: string, retryable: boolean, what?: string) {
  const failure = await failureOf(promise)
  assert.deepEqual([failure.code, failure.retryable], [code, retryable], what)
  return failure
}

export function assertNoSecret(value: unknown): void {
  const text = inspect(value, { depth: 20, showHidden: true, getters: true, maxStringLength: null })
  for (const secret of [...Object.values(secrets), 'Bearer ']) {
    assert.ok(!text.includes(secret), `it holds ${secret}: ${text}`)
  }
}
