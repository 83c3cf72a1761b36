/** Owns what a vendor's error means for the run: its code, and whether trying again can help. */

import type { VendorError } from './vendor-error.ts'

export interface Verdict {
  readonly code: string
  readonly retryable: boolean
  /** What happened; the provider's name stands before it. */
  readonly sentence: string
}

const verdicts = {
  'out-of-credit': { retryable: false, sentence: 'has no credit left for this key' },
  'unknown-model': { retryable: false, sentence: 'does not know this model' },
  'bad-credential': { retryable: false, sentence: 'refused the API key' },
  'too-long': { retryable: false, sentence: 'found the conversation too long for this model' },
  refused: { retryable: false, sentence: 'refused to answer' },
  'rate-limited': { retryable: true, sentence: 'asks to wait' },
  unavailable: { retryable: true, sentence: 'is unavailable' },
  'bad-request': { retryable: false, sentence: 'refused the request' },
} as const

type Code = keyof typeof verdicts

/**
 * The vendors' own codes, before the status, which several of them share. Anthropic's are its `error.type`, OpenAI's its
 * `error.code`, Google's its `error.status` and the `reason` of google.rpc.ErrorInfo.
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

/** Where a vendor has no code for it: Anthropic, Gemini, vLLM and Anthropic again, in this order. */
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

export function judge({ status, words, said }: VendorError): Verdict {
  const code =
    byWord.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1] ??
    (status === 400 || status === undefined
      ? bySentence.find(([pattern]) => pattern.test(said ?? ''))?.[1]
      : undefined) ??
    (status === undefined
      ? byFamily(words)
      : (byStatus[status] ?? (status >= 500 ? 'unavailable' : 'bad-request')))
  return { code, ...verdicts[code] }
}

/** An error in a stream need not say a status. One that says nothing at all is the vendor's own. */
function byFamily(words: readonly string[]): Code {
  const all = words.join(' ')
  if (/permission/.test(all)) return 'bad-credential'
  if (/not_found/.test(all)) return 'unknown-model'
  return /invalid|bad_request/.test(all) ? 'bad-request' : 'unavailable'
}
