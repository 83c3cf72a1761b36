/** Owns one request to OpenClaw's hooks. */

import { readRetryAfter } from '@reveille/kit'
import { type Answer, readAnswer } from './answer.ts'
import { addressOf, type Hook, type OpenClawConfig, timeoutMsOf } from './configuration.ts'
import { calledOff, foreignAnswer, refusalOf, unansweredOf } from './failure.ts'

export interface PostOptions {
  readonly config: OpenClawConfig
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

export interface Message {
  /** Also kept from our own door, should it come back to it. */
  readonly runId: string
  /** The same for each try: newer versions take a run once. */
  readonly key: string
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** Refusals that the caller sees to: they are answered and not thrown. */
  readonly expects?: (answer: Answer) => boolean
}

export type Post = (hook: Hook, message: Message) => Promise<Answer>

/** What it answers is thrown as a PluginError, unless OpenClaw took the message or the caller expects the refusal. */
export function createPost({ config, fetch, now }: PostOptions): Post {
  return async function post(hook, { runId, key, body, signal, expects }) {
    if (signal.aborted) throw calledOff()
    const late = AbortSignal.timeout(timeoutMsOf(config))
    const either = AbortSignal.any([signal, late])
    const headers = {
      authorization: `Bearer ${config.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': key,
      'x-reveille-run': runId,
    }
    let answer: Answer
    let response: Response
    try {
      const request = { method: 'POST', headers, body: JSON.stringify(body), signal: either }
      response = await fetch(addressOf(config, hook), request)
      answer = await readAnswer(response, signal)
    } catch (error) {
      throw unansweredOf(error, { signal, late, timeout: config.timeout })
    }
    if (response.ok && answer.isForeign) throw foreignAnswer(answer)
    if ((response.ok && answer.object['ok'] !== false) || expects?.(answer)) return answer
    const retryAfter = readRetryAfter(response.headers.get('retry-after'), now())
    throw refusalOf(answer, { config, hook, retryAfter })
  }
}
