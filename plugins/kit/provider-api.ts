/** Calls the JSON API of a provider: rate limits are waited out, and refusals name the permission that is missing. */

import { isPluginError, permanentError, transientError } from './plugin-error.ts'
import type { ApiPace } from './provider.ts'
import { oneLine } from './quoting.ts'
import { asRecord, asString, parseJson } from './record.ts'
import { readRetryAfter } from './retry.ts'
import type { SourceClock } from './source.ts'
import { callVendor, joinUrl } from './vendor-call.ts'

export interface ProviderApiOptions extends ApiPace {
  /** The `fetch` that the plugin was given. */
  readonly fetch: typeof fetch
  readonly token: string
  /** Where the token comes from, for messages: `GITHUB_TOKEN`, or the key of the configuration that names it. */
  readonly tokenFrom: string
  /** The address of the API. Default: that of the provider. */
  readonly api?: string | undefined
  readonly clock: SourceClock
  readonly signal: AbortSignal
}

/** The differences between providers. */
export interface ProviderDialect {
  /** The name of the provider in sentences, such as `GitHub`. */
  readonly title: string
  readonly api: string
  readonly headers?: Readonly<Record<string, string>>
  /** The permission that a token needs, as the provider's pages name it. */
  readonly scope: string
  /** True if bodies are sent as forms, with nested values as `metadata[name]`. Default: JSON. */
  readonly sendsForms?: boolean
  /** The wait after a limit without a time, which doubles. Milliseconds. */
  readonly firstWaitMs: number
}

export interface ProviderAnswer {
  readonly headers: Headers
  /** The body. Integers that a number would round keep their digits, and are printed unchanged by `JSON.stringify`. */
  readonly json: unknown
}

export interface ProviderCall {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Begins with a slash, and has no secrets. */
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  /** The subject of the call, for messages: `the webhooks of octo-org/harbour`. */
  readonly what: string
}

/** Maximum size of an answer, in bytes: GitHub's payloads have up to 25 MB. */
const maxAnswerBytes = 64 * 1024 * 1024
const timeoutMs = 30_000
const maxWaitMs = 3_601_000

/**
 * Returns the function that makes a call. Without `onLimited` a call that is limited fails.
 * @throws PluginError `bad-credential`, `forbidden`, `not-found`, `bad-request`, `rate-limited`, `unavailable`, `network`,
 * `redirected`; the reason of the signal
 */
export function createProviderApi(dialect: ProviderDialect, options: ProviderApiOptions) {
  const { clock, signal, onLimited, onCallsLeft } = options
  /** Until when no call is allowed. */
  let closedUntil = 0

  async function waitUntilOpen({ what }: ProviderCall): Promise<void> {
    const wait = closedUntil - clock.now()
    if (wait <= 0) return
    if (onLimited === undefined) {
      const text = `${dialect.title} allows no further calls with this token for ${inWords(wait)}, so that it was not asked for ${what}.`
      throw transientError('rate-limited', text, { retryAfter: Math.ceil(wait / 1000) })
    }
    onLimited(closedUntil)
    await clock.sleep(wait, signal)
  }

  return async function call(asked: ProviderCall): Promise<ProviderAnswer> {
    for (let limited = 0; ; limited += 1) {
      await waitUntilOpen(asked)
      const answer = await send(dialect, options, asked)
      const { left, untilReset, wait } = limitsOf(dialect, answer, limited, clock.now())
      if (left !== undefined) onCallsLeft?.(left)
      if (wait !== undefined) closedUntil = clock.now() + wait
      else {
        if (left === 0 && untilReset !== undefined) closedUntil = clock.now() + untilReset
        if (answer.status >= 200 && answer.status < 300) return answer
        throw refusal(dialect, options, asked, answer)
      }
    }
  }
}

type Answer = ProviderAnswer & { readonly status: number }

async function send(
  { title, headers, sendsForms, api }: ProviderDialect,
  options: ProviderApiOptions,
  { method = 'GET', path, body, what }: ProviderCall,
): Promise<Answer> {
  const { fetch, token, signal } = options
  try {
    const { text, ...answer } = await callVendor(fetch, {
      url: joinUrl(options.api ?? api, path),
      method,
      headers: { ...headers, authorization: `Bearer ${token}`, 'user-agent': 'reveille' },
      ...(body && { body: sendsForms ? formOf(body) : body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      maxBytes: maxAnswerBytes,
    })
    return { ...answer, json: /\d{16}/.test(text) ? parseExactJson(text) : answer.json }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (!isPluginError(error)) throw error
    if (error.code === 'redirected') {
      const text = `${title} says that ${what} are elsewhere now: write the new name of what was renamed or moved.`
      throw permanentError('redirected', text)
    }
    const isLate = error.code === 'timeout'
    if (!isLate && !error.cutOff) throw error
    throw transientError(
      'network',
      `${title} ${isLate ? 'did not answer in time' : 'broke off'} about ${what}.`,
    )
  }
}

/**
 * Returns the wait before the call is made again, or undefined if it was not refused for its number.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 * https://docs.stripe.com/rate-limits
 */
function limitsOf(
  { firstWaitMs }: ProviderDialect,
  { status, headers, json }: Answer,
  limited: number,
  now: number,
) {
  const left = numberIn(headers, 'x-ratelimit-remaining')
  const reset = numberIn(headers, 'x-ratelimit-reset')
  const untilReset = reset === undefined ? undefined : Math.max(1000, reset * 1000 - now + 1000)
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  const isSecondary = /secondary rate limit|abuse/i.test(messageOf(json) ?? '')
  const isLimited =
    status === 429 || (status === 403 && (left === 0 || retryAfter !== undefined || isSecondary))
  if (!isLimited) return { left, untilReset }
  const resetMs = left === 0 ? untilReset : undefined
  const wait = retryAfter === undefined ? resetMs : retryAfter * 1000
  return {
    left,
    untilReset,
    wait: Math.min(maxWaitMs, Math.max(1000, wait ?? firstWaitMs * 2 ** Math.min(limited, 6))),
  }
}

function refusal(
  { title, scope }: ProviderDialect,
  { tokenFrom }: ProviderApiOptions,
  { what }: ProviderCall,
  { status, json }: Answer,
) {
  const why = messageOf(json)
  const quoted = why === undefined ? '' : ` It says: ${oneLine(why, 200).replace(/\.?$/, '.')}`
  const need = `It needs ${scope}.`
  if (status === 401)
    return permanentError(
      'bad-credential',
      `${title} does not know the token of ${tokenFrom} (401): it is mistyped, expired or revoked. Make a new one. ${need}`,
    )
  if (status === 403)
    return permanentError(
      'forbidden',
      `${title} does not let the token of ${tokenFrom} ask for ${what} (403). ${need}${quoted}`,
    )
  if (status === 404)
    return permanentError(
      'not-found',
      `${title} shows the token of ${tokenFrom} nothing at ${what} (404): the name is mistyped, it is gone, or the token has no access to it. ${need}`,
    )
  return status >= 500
    ? transientError('unavailable', `${title} failed when it was asked for ${what} (${status}).`)
    : permanentError('bad-request', `${title} refused to be asked for ${what} (${status}).${quoted}`)
}

/** Returns a duration in words for people: `40 s`, `12 min`, `2 h`. */
export function inWords(ms: number): string {
  if (ms < 90_000) return `${Math.max(1, Math.ceil(ms / 1000))} s`
  return ms < 5_400_000 ? `${Math.ceil(ms / 60_000)} min` : `${Math.ceil(ms / 3_600_000)} h`
}

/** Writes nested values as `enabled_events[0]=…` and `metadata[reveille]=…`. */
function formOf(body: Readonly<Record<string, unknown>>): URLSearchParams {
  const form = new URLSearchParams()
  const add = (name: string, value: unknown): void => {
    if (value === undefined) return
    if (typeof value !== 'object' || value === null) form.append(name, String(value))
    else for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner)
  }
  for (const [name, value] of Object.entries(body)) add(name, value)
  return form
}

/** Node 24 has these, and TypeScript's library does not declare them yet. */
const exactJson = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

function parseExactJson(text: string): unknown {
  if (parseJson(text) === undefined) return undefined
  return exactJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? exactJson.rawJSON(source ?? String(value))
      : value,
  )
}

function numberIn(headers: Headers, name: string): number | undefined {
  const value = headers.get(name)
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined
}

/** The sentence of an error: `message` with the first of its `errors`, or `error.message`. */
function messageOf(json: unknown): string | undefined {
  const { message, error, errors } = asRecord(json) ?? {}
  const first = Array.isArray(errors) ? asString(asRecord(errors[0])?.['message']) : undefined
  const text = asString(message) ?? asString(asRecord(error)?.['message'])
  return first === undefined ? text : `${text}: ${first}`
}

/** Returns an id as a string, also one that a number would round. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined
}

/** Removes something, which may be gone already. @throws what `remove` throws else */
export async function unlessGone(remove: () => Promise<unknown>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (!isPluginError(error) || error.code !== 'not-found') throw error
  }
}
