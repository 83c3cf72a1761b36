/** Owns turning whatever a turn ended with into a PluginError. Its cause is left out: it holds the request. */

import { isPluginError, oneLine, PluginError } from '@reveille/kit'
import type { Provider } from '../providers.ts'
import { compileCredentialRedaction } from './redaction.ts'
import { retryAfterOf } from './retry-after.ts'
import { readVendorError } from './vendor-error.ts'
import { judge } from './verdict.ts'

/** UTF-16 units of a whole message. */
const longestMessage = 300

export interface FailureOptions {
  readonly provider: Provider
  /** The type of what the vendor answers with, once it has begun to answer with success. */
  readonly answerType?: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** The SDK's errors are told by their names, which are its API; its classes would have to be loaded. */
const unreadable = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_EmptyResponseBodyError',
  'AI_InvalidResponseDataError',
])

export function failureOf(error: unknown, options: FailureOptions): PluginError {
  const { provider, answerType } = options
  const chain = chainOf(error)
  const ours = chain.find(isPluginError)
  // What the host's fetch says is fit to be shown; its own cause may quote an address.
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
  if (chain.some(hasSystemCode))
    return answerType === undefined ? unreachable(provider, chain) : unfinished(options)
  // With an answer under way, all that is left is that the SDK could not make sense of it.
  if (answerType !== undefined) return malformed(provider)
  const facts = { code: 'failed', retryable: false }
  return problem(provider, `${provider.name} could not be asked: ${error.message}`, facts)
}

function refusal(error: unknown, { provider, answerType, now }: FailureOptions): PluginError {
  const found = readVendorError(error)
  const { code, retryable, sentence } = judge(found)
  const status = found.status === undefined || answerType !== undefined ? '' : ` (${found.status})`
  const said = found.said === undefined || /^\s*$/.test(found.said) ? '' : `: ${found.said}`
  const hint = code === 'unknown-model' && said === '' ? '; check its name and `baseUrl`' : ''
  const text = `${provider.name} ${sentence}${status}${hint}${said}`
  const retryAfter = retryable ? retryAfterOf(found, now) : undefined
  return problem(provider, text, { code, retryable, retryAfter })
}

export function dropped(provider: Provider): PluginError {
  const text = `${provider.name} broke off its answer before the end`
  return problem(provider, text, { code: 'dropped', retryable: true })
}

/** What is no stream of events did not break off: it is a proxy's page, or another protocol's. */
function unfinished({ provider, answerType }: FailureOptions): PluginError {
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

interface Facts {
  readonly code: string
  readonly retryable: boolean
  readonly retryAfter?: number
  readonly maybeDelivered?: boolean
}

/** One sentence of one line, without credentials. */
export function problem(provider: Provider, text: string, facts: Facts): PluginError {
  const { name, apiKey, headers = {} } = provider
  const secrets = [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)]
  const clean = compileCredentialRedaction(secrets)(text).trim()
  const whole = clean.startsWith(name) ? clean : `${name}: ${clean}`
  return new PluginError(oneLine(/[.!?\u2026]$/.test(whole) ? whole : `${whole}.`, longestMessage), facts)
}

/** The error and its causes, at most as many as any library nests. */
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

/** What the OpenAI-compatible provider throws when a stream ends without a reason; others of this name hold data. */
function isUnfinished(error: unknown): boolean {
  return nameOf(error) === 'AI_InvalidResponseDataError' && (error as { data?: unknown }).data === undefined
}

/** `ECONNRESET`, `UND_ERR_SOCKET`: the system's or undici's. */
function hasSystemCode(error: unknown): error is { code: string } {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return error instanceof Error && typeof code === 'string' && /^[A-Z][A-Z_]+$/.test(code)
}
