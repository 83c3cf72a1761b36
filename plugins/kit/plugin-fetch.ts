/** Creates the `fetch` that a plugin is given, which follows no redirect and logs no full address. */

import { type PluginError, permanentError, transientError } from './plugin-error.ts'

export interface PluginFetchOptions {
  readonly fetch: typeof fetch
  readonly log: { debug(facts: object): void }
  /** The fields that every log line has. */
  readonly owner: Readonly<Record<string, string>>
  /** Aborts every call when the plugin is closed. */
  readonly signal: AbortSignal
}

/**
 * Logs method, host and status of each call, but not path, query, headers or body, since vendors put credentials into each of
 * them. A redirect is refused, since it would carry the credential to an address that was not configured.
 * @throws PluginError `bad-request`, `redirected`, `network`; the caller's own abort reason is thrown as it is
 */
export function createPluginFetch(options: PluginFetchOptions): typeof globalThis.fetch {
  const { fetch, log, owner, signal } = options
  return async function pluginFetch(input, init = {}) {
    const isRequest = input instanceof Request
    const { host } = parseUrl(isRequest ? input.url : String(input))
    const method = (init.method ?? (isRequest ? input.method : 'GET')).toUpperCase()
    const own = init.signal ?? (isRequest ? input.signal : undefined)
    const either = own ? AbortSignal.any([own, signal]) : signal

    let response: Response
    try {
      response = await fetch(input, { ...init, redirect: 'manual', signal: either })
    } catch (cause) {
      if (either.aborted) throw either.reason
      log.debug({ event: 'plugin-fetched', ...owner, method, host, code: reasonOf(cause) })
      throw networkError(host, cause)
    }
    log.debug({ event: 'plugin-fetched', ...owner, method, host, status: response.status })
    if (!isRedirect(response)) return response
    await response.body?.cancel()
    throw permanentError('redirected', `${host} answered with a redirect, which is not followed.`)
  }
}

/** Checks the URL before `fetch` does, because the errors of `fetch` quote it. */
function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  throw permanentError('bad-request', 'The address to call is no http or https URL without credentials.')
}

function isRedirect(response: Response): boolean {
  return (
    response.type === 'opaqueredirect' ||
    (response.status >= 300 && response.status < 400 && response.status !== 304)
  )
}

/** The codes of connections that were never made, so that nothing can have been delivered. */
const unconnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_SSL_WRONG_VERSION_NUMBER',
])

/** The codes of certificates that are not trusted, before anything is sent. Source: Node's page on TLS. */
const untrusted =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)$)/

/** True if the request may have been sent. Node reports a cut handshake with its local address. */
function mayHaveLeft(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return true
  if (isBlockedPort(cause)) return false
  const { code, syscall } = cause as { code?: unknown; syscall?: unknown }
  if (syscall === 'connect' || (code === 'ECONNRESET' && 'localAddress' in cause)) return false
  return typeof code !== 'string' || !(unconnected.has(code) || untrusted.test(code))
}

/** True if fetch refused the port before it connected. It has a list of such ports, and no code for them. */
function isBlockedPort(cause: unknown): boolean {
  return cause instanceof Error && cause.message === 'bad port'
}

function networkError(host: string, error: unknown): PluginError {
  // A network failure has a cause. An error without one is fetch refusing a header or a body, which it quotes.
  if (!(error instanceof Error) || error.cause === undefined) {
    return permanentError('bad-request', `The request to ${host} is malformed.`)
  }
  const reason = reasonOf(error)
  return transientError(
    'network',
    `${host} could not be reached${reason === undefined ? '' : ` (${reason})`}.`,
    { maybeDelivered: mayHaveLeft(error.cause), cause: error },
  )
}

function reasonOf(error: unknown): string | undefined {
  const cause = (error as Error | undefined)?.cause
  if (isBlockedPort(cause)) return 'fetch blocks this port; use another'
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
