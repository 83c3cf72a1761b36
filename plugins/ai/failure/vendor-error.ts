/** Owns reading what a vendor says about a failure, whatever shape its error has. */

import { numberOf, parseJson, textOf } from '@reveille/kit'

export interface VendorError {
  /** Of the response, or the one that the error would have had outside a stream. */
  readonly status?: number
  /** The vendor's own codes, in lower case: `rate_limit_error`, `context_length_exceeded`, `resource_exhausted`. */
  readonly words: readonly string[]
  /** The vendor's sentence. Nobody has looked through it yet for what must not be shown. */
  readonly said?: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Of google.rpc.Status. */
  readonly details: readonly unknown[]
}

type Bag = Readonly<Record<string, unknown>>

/**
 * Takes the SDK's APICallError and StreamProviderError by their fields, and the bare object that an
 * OpenAI-compatible server sends in a stream.
 */
export function readVendorError(error: unknown): VendorError {
  const outer = bagOf(error)
  const body = bagOf(outer['data'] ?? parseJson(textOf(outer['responseBody']) ?? ''))
  // OpenAI's Responses puts it into `response.error`, everybody else into `error` or into the body itself.
  const inner = [bagOf(bagOf(body['response'])['error']), bagOf(body['error']), body].find(isTelling) ?? {}
  const details = Array.isArray(inner['details']) ? inner['details'] : []
  const reasons = details.map((detail) => bagOf(detail)['reason'])
  const codes = [outer['type'], outer['code'], inner['type'], inner['code'], inner['status'], ...reasons]
  return {
    status: numberOf(outer['statusCode']) ?? httpStatusOf(inner['code']),
    words: codes.filter((code) => typeof code === 'string').map((code) => code.toLowerCase()),
    said: sentenceOf(inner) ?? sentenceOf(body) ?? ownSentence(error),
    headers: bagOf(outer['responseHeaders']) as Record<string, string>,
    details,
  }
}

/** `error` as text is Ollama's, `detail` FastAPI's and so vLLM's. */
function sentenceOf(bag: Bag): string | undefined {
  const found = [bag['message'], bag['error'], bag['detail']].find(
    (each) => typeof each === 'string' && each.trim() !== '',
  )
  return found as string | undefined
}

/** Of a response without a sentence the SDK's own is the name of the status, which says nothing new. */
function ownSentence(error: unknown): string | undefined {
  if (typeof error === 'string') return error
  const bag = bagOf(error)
  return bag['responseBody'] === undefined ? sentenceOf(bag) : undefined
}

function isTelling(bag: Bag): boolean {
  return sentenceOf(bag) !== undefined || bag['type'] !== undefined || bag['code'] !== undefined
}

function bagOf(value: unknown): Bag {
  return typeof value === 'object' && value !== null ? (value as Bag) : {}
}

function httpStatusOf(code: unknown): number | undefined {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined
}
