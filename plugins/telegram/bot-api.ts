/** Owns calling methods of the Bot API as one bot. */

import { callVendor, compileRedaction, type PluginError, type VendorAnswer } from '@reveille/kit'
import { secretUrlOf, type TelegramConfig } from './configuration.ts'
import { type ApiAnswer, apiAnswerOf, failureOf } from './failure.ts'

export interface BotApi {
  /** Whatever Telegram says is answered. @throws PluginError where it says nothing */
  call(method: string, body: object, signal: AbortSignal): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly said: ApiAnswer
  /** What to throw for it, where it is a refusal. */
  failure(): PluginError
}

export interface BotApiOptions {
  readonly config: TelegramConfig
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export function createBotApi({ config, fetch, now }: BotApiOptions): BotApi {
  const redact = compileRedaction([config.botToken])
  const failure = (answer: VendorAnswer) => failureOf(answer, { redact, now: now() })
  return {
    async call(method, body, signal) {
      const answer = await callVendor(fetch, { url: secretUrlOf(config, method), body, signal })
      return { status: answer.status, said: apiAnswerOf(answer), failure: () => failure(answer) }
    },
  }
}
