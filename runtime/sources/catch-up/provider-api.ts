/** Calls the API of a provider about its webhooks: limits are waited out, and refusals name what is missing. */

import { parseExact } from '@reveille/engine'
import {
  createPluginFetch,
  isPluginError,
  oneLine,
  permanentError,
  readBody,
  readRetryAfter,
  recordOf,
  type SourceClock,
  textOf,
  transientError,
  urlBelow,
} from '@reveille/kit'

export interface ProviderApiOptions {
  readonly fetch: typeof globalThis.fetch
  readonly token: string
  /** Where the token comes from, for messages: `GITHUB_TOKEN`, or the key of the configuration that names it. */
  readonly tokenFrom: string
  /** The address of the API. Default: that of the provider. */
  readonly base?: string | undefined
  readonly clock: SourceClock
  readonly signal: AbortSignal
  readonly log?: { debug(facts: object): void }
  /**
   * Called when the provider allows no further call until a time, in milliseconds since the Unix epoch. Absent: such a call fails
   * with `rate-limited`.
   */
  readonly onLimited?: (until: number) => void
  /** Called after each answer that says how many calls are left until the limit is renewed. */
  readonly onCallsLeft?: (calls: number) => void
}

/** What differs between the providers. */
export interface ProviderDialect {
  /** The name of the provider, such as `GitHub`. */
  readonly title: string
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  /** The permission that a token needs, as the provider's pages name it. */
  readonly scope: string
  readonly form: 'json' | 'form'
}

export interface ProviderAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body. Integers that a number would round are kept as they are, so that JSON made of it is the same. */
  readonly json: unknown
}

export interface ProviderCall {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Begins with a slash, and has no secrets. */
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  /** What is asked for, for messages: `the webhooks of octo-org/harbour`. */
  readonly what: string
}

export type ProviderApi = ReturnType<typeof createProviderApi>

/** The longest answer in bytes: a hundred of Stripe's events, or a delivery of GitHub, whose payloads have at most 25 MB. */
const longestAnswer = 64 * 1024 * 1024
const timeoutMs = 30_000
/** After a secondary limit without a time GitHub asks for a minute at least, and for longer waits if it comes again. */
const firstWaitMs = 60_000
const longestWaitMs = 3_600_000

export function createProviderApi(dialect: ProviderDialect, options: ProviderApiOptions) {
  const { title } = dialect
  const { clock, signal, token, tokenFrom, onLimited, onCallsLeft } = options
  const base = options.base ?? dialect.base
  const fetch = createPluginFetch({
    fetch: options.fetch,
    log: options.log ?? { debug() {} },
    owner: { provider: title },
    signal,
  })
  /** Until when no call is allowed. */
  let closedUntil = 0

  /** @throws PluginError `bad-credential`, `forbidden`, `not-found`, `bad-request`, `rate-limited`, `unavailable`, `network` */
  async function call(asked: ProviderCall): Promise<ProviderAnswer> {
    for (let limited = 0; ; limited += 1) {
      await waitUntilOpen(asked)
      const answer = await send(asked)
      const wait = noteLimits(answer, limited)
      if (wait === undefined) return succeeded(asked, answer)
      closedUntil = clock.now() + wait
    }
  }

  async function waitUntilOpen({ what }: ProviderCall): Promise<void> {
    const wait = closedUntil - clock.now()
    if (wait <= 0) return
    if (onLimited === undefined) {
      const text = `${title} allows no further calls with this token for ${inWords(wait)}, so that it was not asked for ${what}.`
      throw transientError('rate-limited', text, { retryAfter: Math.ceil(wait / 1000) })
    }
    onLimited(closedUntil)
    await clock.sleep(wait, signal)
  }

  async function send({ method = 'GET', path, body, what }: ProviderCall): Promise<ProviderAnswer> {
    const isForm = dialect.form === 'form'
    const sent = body && (isForm ? formOf(body).toString() : JSON.stringify(body))
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    const response = await fetch(urlBelow(base, path), {
      method,
      headers: {
        ...dialect.headers,
        authorization: `Bearer ${token}`,
        'user-agent': 'reveille',
        ...(sent !== undefined && { 'content-type': type }),
      },
      ...(sent !== undefined && { body: sent }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    }).catch((error: unknown) => {
      throw unreached(error, what)
    })
    const text = await readBody(response, longestAnswer).catch((error: unknown) => {
      throw unreached(error, what)
    })
    if (text === undefined)
      throw permanentError('bad-request', `${title} answers more than 64 MiB about ${what}.`)
    return { status: response.status, headers: response.headers, json: parsed(text) }
  }

  function unreached(error: unknown, what: string): unknown {
    if (signal.aborted) return signal.reason
    if (isPluginError(error) && error.code === 'redirected')
      return permanentError(
        'redirected',
        `${title} says that ${what} are elsewhere now: write the new name of what was renamed or moved.`,
      )
    if (isPluginError(error)) return error
    const isLate = (error as Error | undefined)?.name === 'TimeoutError'
    return transientError(
      'network',
      `${title} ${isLate ? 'did not answer in time' : 'broke off'} about ${what}.`,
    )
  }

  /**
   * Returns how long to wait before the call is made again, or undefined if it was not refused for its number.
   * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
   * https://docs.stripe.com/rate-limits
   */
  function noteLimits({ status, headers, json }: ProviderAnswer, limited: number): number | undefined {
    const left = numberIn(headers, 'x-ratelimit-remaining')
    const reset = numberIn(headers, 'x-ratelimit-reset')
    const untilReset = reset === undefined ? undefined : Math.max(1000, reset * 1000 - clock.now() + 1000)
    if (left !== undefined) onCallsLeft?.(left)
    const retryAfter = readRetryAfter(headers.get('retry-after'), clock.now())
    const isSecondary = /secondary rate limit|abuse/i.test(messageOf(json) ?? '')
    const isLimited =
      status === 429 || (status === 403 && (left === 0 || retryAfter !== undefined || isSecondary))
    if (!isLimited) {
      if (left === 0 && untilReset !== undefined) closedUntil = clock.now() + untilReset
      return undefined
    }
    const own = dialect.form === 'form' ? 1000 : firstWaitMs
    const wait =
      retryAfter !== undefined
        ? retryAfter * 1000
        : left === 0 && untilReset !== undefined
          ? untilReset
          : own * 2 ** Math.min(limited, 6)
    return Math.min(longestWaitMs + 1000, Math.max(1000, wait))
  }

  function succeeded(asked: ProviderCall, answer: ProviderAnswer): ProviderAnswer {
    const { status, json } = answer
    if (status >= 200 && status < 300) return answer
    const { what } = asked
    const why = messageOf(json)
    const quoted = why === undefined ? '' : ` It says: ${oneLine(why, 200).replace(/\.?$/, '.')}`
    const need = `It needs ${dialect.scope}.`
    if (status === 401)
      throw permanentError(
        'bad-credential',
        `${title} does not know the token of ${tokenFrom} (401): it is mistyped, expired or revoked. Make a new one. ${need}`,
      )
    if (status === 403)
      throw permanentError(
        'forbidden',
        `${title} does not let the token of ${tokenFrom} ask for ${what} (403). ${need}${quoted}`,
      )
    if (status === 404)
      throw permanentError(
        'not-found',
        `${title} shows the token of ${tokenFrom} nothing at ${what} (404): the name is mistyped, it is gone, or the token has no access to it. ${need}`,
      )
    if (status >= 500)
      throw transientError('unavailable', `${title} failed when it was asked for ${what} (${status}).`)
    throw permanentError('bad-request', `${title} refused to be asked for ${what} (${status}).${quoted}`)
  }

  return { title, call }
}

/** A length of time in words, for people: `40 s`, `12 min`, `2 h`. */
export function inWords(ms: number): string {
  if (ms < 90_000) return `${Math.max(1, Math.ceil(ms / 1000))} s`
  return ms < 5_400_000 ? `${Math.ceil(ms / 60_000)} min` : `${Math.ceil(ms / 3_600_000)} h`
}

/** Writes nested values as Stripe reads them: `enabled_events[0]=…`, `metadata[reveille]=…`. */
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

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return parseExact(text) ?? JSON.parse(text)
  } catch {
    return undefined
  }
}

function numberIn(headers: Headers, name: string): number | undefined {
  const value = headers.get(name)
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined
}

/** The sentence of an error: GitHub's `message` with the first of its `errors`, or Stripe's `error.message`. */
function messageOf(json: unknown): string | undefined {
  const { message, error, errors } = recordOf(json) ?? {}
  const first = Array.isArray(errors) ? textOf(recordOf(errors[0])?.['message']) : undefined
  const text = textOf(message) ?? textOf(recordOf(error)?.['message'])
  return first === undefined ? text : `${text}: ${first}`
}

/** An id as text, also one that a number would round. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined
}
