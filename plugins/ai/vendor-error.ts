/** Reads the error of a vendor, and decides its consequence for the run. */

import { asList, asNumber, asString, parseJson } from '@reveille/kit'

export type VendorError = ReturnType<typeof readVendorError>

type Bag = Readonly<Record<string, unknown>>

/**
 * Reads the SDK's APICallError and StreamProviderError by their fields, and the bare object that an OpenAI-compatible server
 * sends in a stream.
 */
export function readVendorError(error: unknown) {
  const outer = bagOf(error)
  const body = bagOf(outer['data'] ?? parseJson(asString(outer['responseBody']) ?? ''))
  // OpenAI's Responses API has the error in `response.error`, all others in `error` or in the body itself.
  const inner = [bagOf(bagOf(body['response'])['error']), bagOf(body['error']), body].find(isTelling) ?? {}
  const details = asList(inner['details'])
  const reasons = details.map((detail) => bagOf(detail)['reason'])
  const codes = [outer['type'], outer['code'], inner['type'], inner['code'], inner['status'], ...reasons]
  return {
    /** The status of the response, or the one that the error would have outside a stream. */
    status: asNumber(outer['statusCode']) ?? httpStatusOf(inner['code']),
    /** The vendor's own codes in lower case, such as `rate_limit_error` or `context_length_exceeded`. */
    words: codes.filter((code) => typeof code === 'string').map((code) => code.toLowerCase()),
    /** The vendor's sentence, before credentials are removed from it. */
    answer: sentenceOf(inner) ?? sentenceOf(body) ?? ownSentence(error),
    /** The headers by their names in lower case. */
    headers: bagOf(outer['responseHeaders']) as Readonly<Record<string, string | undefined>>,
    /** The details of google.rpc.Status. */
    details,
  }
}

/** Returns the sentence of an error. Ollama has it as the string `error`, and FastAPI, and so vLLM, as `detail`. */
function sentenceOf(bag: Bag): string | undefined {
  const found = [bag['message'], bag['error'], bag['detail']].find(
    (each) => typeof each === 'string' && each.trim() !== '',
  )
  return found as string | undefined
}

/** Returns the SDK's own sentence, unless there was a response: then it is only the name of the status. */
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

/** The consequences of an error for the run. */
interface Meaning {
  readonly code: string
  readonly retryable: boolean
  /** True if every other turn with the key would fail in the same way. */
  readonly wholeService?: boolean
  /** Describes the failure; follows the provider's name. */
  readonly sentence: string
}

const meanings = {
  'out-of-credit': { retryable: false, wholeService: true, sentence: 'has no credit left for this key' },
  'unknown-model': { retryable: false, sentence: 'does not know this model' },
  'bad-credential': { retryable: false, wholeService: true, sentence: 'refused the API key' },
  'too-long': { retryable: false, sentence: 'found the conversation too long for this model' },
  refused: { retryable: false, sentence: 'refused to answer' },
  'rate-limited': { retryable: true, sentence: 'asks to wait' },
  unavailable: { retryable: true, sentence: 'is unavailable' },
  'bad-request': { retryable: false, sentence: 'refused the request' },
} as const satisfies Readonly<Record<string, Omit<Meaning, 'code'>>>

type Code = keyof typeof meanings

/**
 * The vendors' own codes, which are read before the status, since several of them share one. They are Anthropic's
 * `error.type`, OpenAI's `error.code`, and Google's `error.status` and `reason` of google.rpc.ErrorInfo.
 */
const byWord: readonly (readonly [RegExp, Code])[] = [
  [/insufficient_quota|billing|payment_required|insufficient_credits/, 'out-of-credit'],
  [/model_not_found|model_not_available/, 'unknown-model'],
  [/api_key_invalid|invalid_api_key|authentication|unauthenticated/, 'bad-credential'],
  [/context_length|exceed_context_size|request_too_large|string_above_max_length/, 'too-long'],
  [/content_filter|content_policy|responsibleai/, 'refused'],
  [/rate_limit|resource_exhausted|too_many_requests/, 'rate-limited'],
  [/overloaded/, 'unavailable'],
]

/** The sentences of errors without a code: of Anthropic, Gemini, vLLM and Anthropic again, in this order. */
const bySentence: readonly (readonly [RegExp, Code])[] = [
  [/prompt is too long|exceed context limit/i, 'too-long'],
  [/token count .*exceeds the maximum/i, 'too-long'],
  [/maximum context length|context (?:length|window|size)/i, 'too-long'],
  [/credit balance is too low/i, 'out-of-credit'],
]

const byStatus: Readonly<Record<number, Code>> = {
  401: 'bad-credential',
  402: 'out-of-credit',
  403: 'bad-credential',
  404: 'unknown-model',
  408: 'unavailable',
  409: 'unavailable',
  413: 'too-long',
  425: 'unavailable',
  429: 'rate-limited',
}

export function meaningOf({ status, words, answer }: VendorError): Meaning {
  const code =
    byWord.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1] ??
    (status === 400 || status === undefined
      ? bySentence.find(([pattern]) => pattern.test(answer ?? ''))?.[1]
      : undefined) ??
    (status === undefined
      ? byFamily(words)
      : (byStatus[status] ?? (status >= 500 ? 'unavailable' : 'bad-request')))
  return { code, ...meanings[code] }
}

/** Classifies an error in a stream, which may have no status. One without any code is the vendor's own failure. */
function byFamily(words: readonly string[]): Code {
  const all = words.join(' ')
  if (/permission/.test(all)) return 'bad-credential'
  if (/not_found/.test(all)) return 'unknown-model'
  return /invalid|bad_request/.test(all) ? 'bad-request' : 'unavailable'
}
