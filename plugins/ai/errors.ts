/** Turns whatever a turn ended with into a PluginError, without its cause, which holds the request. */

import {
  compileRedaction,
  isPluginError,
  oneLine,
  PluginError,
  type PluginErrorOptions,
  type Redact,
  readRetryAfter,
} from '@reveille/kit'
import type { Provider } from './providers.ts'
import { meaningOf, readVendorError, type VendorError } from './vendor-error.ts'

/** Maximum length of a message, in UTF-16 units. */
const maxMessageLength = 300

interface ErrorOptions {
  readonly provider: Provider
  /** The content type of the answer, once the vendor has begun to answer with success. */
  readonly answerType?: string
  /** The time in milliseconds since the Unix epoch. */
  readonly now: number
}

/** The SDK's errors for unreadable answers. Their names are its API; its classes would have to be loaded. */
const unreadable = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_EmptyResponseBodyError',
  'AI_InvalidResponseDataError',
])

export function errorFrom(error: unknown, options: ErrorOptions): PluginError {
  const { provider, answerType } = options
  const chain = chainOf(error)
  const ours = chain.find(isPluginError)
  // The message of the host's fetch can be shown; its cause may quote an address.
  if (ours?.code === 'dropped') return unfinished(options)
  if (ours !== undefined) {
    const { code, retryable, maybeDelivered, retryAfter } = ours
    return problem(provider, ours.message, { code, retryable, maybeDelivered, retryAfter })
  }
  const names = chain.map(nameOf)
  if (names.includes('AI_NoOutputGeneratedError') || chain.some(isUnfinished)) return unfinished(options)
  if (names.some((name) => unreadable.has(name))) return malformed(provider)
  const isCall = names[0] === 'AI_APICallError'
  const { statusCode } = error as { statusCode?: number }
  if (isCall && statusCode === undefined) return unreachable(provider, chain)
  if (isCall && statusCode !== undefined && statusCode < 300) return unfinished(options)
  if (isCall || names[0] === 'AI_StreamProviderError' || !(error instanceof Error)) {
    return refusal(error, options)
  }
  const missing = chain.find(isMissingModule)
  if (missing !== undefined) return notInstalled(provider, missing)
  if (chain.some(hasSystemCode))
    return answerType === undefined ? unreachable(provider, chain) : unfinished(options)
  // Once an answer has begun, the only remaining reason is that the SDK could not read it.
  if (answerType !== undefined) return malformed(provider)
  const facts = { code: 'failed', retryable: false }
  return problem(provider, `${provider.name} could not be asked: ${error.message}`, facts)
}

function refusal(error: unknown, { provider, answerType, now }: ErrorOptions): PluginError {
  const found = readVendorError(error)
  const { code, retryable, wholeService, sentence } = meaningOf(found)
  const status = found.status === undefined || answerType !== undefined ? '' : ` (${found.status})`
  const quote = found.answer === undefined || /^\s*$/.test(found.answer) ? '' : `: ${found.answer}`
  const hint = code === 'unknown-model' && quote === '' ? '; check its name and `baseUrl`' : ''
  const text = `${provider.name} ${sentence}${status}${hint}${quote}`
  const retryAfter = retryable ? retryAfterOf(found, now) : undefined
  return problem(provider, text, { code, retryable, wholeService, retryAfter })
}

export function dropped(provider: Provider): PluginError {
  const text = `${provider.name} broke off its answer before the end`
  return problem(provider, text, { code: 'dropped', retryable: true })
}

/** Returns the error for an answer without an end. One that is not a stream of events is a proxy's page or another protocol. */
function unfinished({ provider, answerType }: ErrorOptions): PluginError {
  return answerType?.startsWith('text/event-stream') ? dropped(provider) : malformed(provider, answerType)
}

function malformed(provider: Provider, type?: string): PluginError {
  const what = type === undefined ? 'an answer' : `an answer (${type})`
  const text = `${provider.name} sent ${what} that is not in the protocol ${provider.kind}`
  return problem(provider, text, { code: 'malformed', retryable: true })
}

function unreachable(provider: Provider, chain: readonly unknown[]): PluginError {
  const reason = chain.find(hasSystemCode)?.code
  const text = `${provider.name} did not answer, the connection failed${reason === undefined ? '' : ` (${reason})`}`
  return problem(provider, text, { code: 'network', retryable: true })
}

/** A package that the provider needs is not there, which no second attempt repairs. */
function notInstalled(provider: Provider, { message }: Error): PluginError {
  const name = /^Cannot find package '([^']+)'/.exec(message)?.[1]
  const step = name === undefined ? 'install @reveille/plugin-ai again' : `run \`npm install ${name}\``
  const text = `${provider.name} cannot be asked, because ${name ?? 'a module'} is not installed: ${step} beside reveille.yaml`
  return problem(provider, text, { code: 'not-installed', retryable: false, wholeService: true })
}

/** Creates an error with a sentence of one line, without credentials. */
export function problem(provider: Provider, text: string, facts: PluginErrorOptions): PluginError {
  const { name, apiKey, headers = {} } = provider
  const secrets = [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)]
  const clean = compileCredentialRedaction(secrets)(text).trim()
  const whole = clean.startsWith(name) ? clean : `${name}: ${clean}`
  return new PluginError(oneLine(/[.!?\u2026]$/.test(whole) ? whole : `${whole}.`, maxMessageLength), facts)
}

/** Returns the error and its causes, up to as many as any library nests. */
function chainOf(error: unknown): unknown[] {
  const chain = [error]
  for (let depth = 0; depth < 8; depth += 1) {
    const cause = (chain.at(-1) as { cause?: unknown } | null | undefined)?.cause
    if (cause === undefined || cause === null) break
    chain.push(cause)
  }
  return chain
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** True if the OpenAI-compatible provider threw this because a stream ended without a reason; other such errors hold data. */
function isUnfinished(error: unknown): boolean {
  return nameOf(error) === 'AI_InvalidResponseDataError' && (error as { data?: unknown }).data === undefined
}

/** https://nodejs.org/api/errors.html#err_module_not_found */
function isMissingModule(error: unknown): error is Error {
  return error instanceof Error && (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
}

/** True if the error has a code of the system or of undici, such as `ECONNRESET` or `UND_ERR_SOCKET`. */
function hasSystemCode(error: unknown): error is { code: string } {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return error instanceof Error && typeof code === 'string' && /^[A-Z][A-Z_]+$/.test(code)
}

/** Number of characters of a wrong key that vendors quote. */
const tellingStart = 8

/** Keys by their vendors' prefixes, values after `Bearer`, and keys that a vendor has only partly starred out. */
const credentials = [
  /\b(?:sk|rk|pk|gsk|xai|ant|pplx|hf)[-_][\w*.\u2026-]{4,}/g,
  /\bAIza[\w*.\u2026-]{4,}/g,
  /(?<=\bBearer\s)\S+/gi,
  /[^\s"'`]*\*{3,}[^\s"'`]*/g,
]

function compileCredentialRedaction(secrets: readonly string[]): Redact {
  const redact = compileRedaction(secrets)
  const starts = secrets
    .filter((secret) => secret.length > tellingStart)
    .map((secret) => secret.slice(0, tellingStart))
  return (text) => {
    const words = redact(text).replaceAll(/\S+/g, (word) =>
      starts.some((start) => word.includes(start)) ? '[redacted]' : word,
    )
    return credentials.reduce((left, pattern) => left.replaceAll(pattern, '[redacted]'), words)
  }
}

/**
 * Returns the seconds that a vendor asks to wait. OpenAI and Azure send `retry-after-ms`; Gemini sends no header, but
 * google.rpc.RetryInfo (`retryDelay: "36s"`) in the details of the error.
 */
function retryAfterOf({ headers, details }: VendorError, now: number): number | undefined {
  const milliseconds = amountOf(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds / 1000
  const seconds = readRetryAfter(headers['retry-after'], now)
  if (seconds !== undefined) return seconds
  for (const detail of details) {
    const delay = (detail as { retryDelay?: unknown } | null)?.retryDelay
    if (typeof delay === 'string' && delay.endsWith('s')) return amountOf(delay.slice(0, -1))
  }
  return undefined
}

function amountOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
