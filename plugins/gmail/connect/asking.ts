/** Asks Google, again if the refusal may pass by itself, and adds advice to the refusal if it may not. */

import { type ConnectCall, isPluginError, PluginError } from '@reveille/kit'

/** Maps the code of an error to a sentence that says what to do. */
export type Advice = Readonly<Record<string, string>>

/** Waits before each try but the first, if Google asks for no other wait. */
const waitsSeconds = [2, 4, 8]
/** After a longer wait the person at the terminal is better served by the error. */
const maxWaitSeconds = 60

export async function ask<Value>(
  call: Pick<ConnectCall, 'clock' | 'signal' | 'report'>,
  question: () => Promise<Value>,
  advice: Advice = {},
): Promise<Value> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await question()
    } catch (error) {
      if (call.signal.aborted || !isPluginError(error)) throw error
      const usual = waitsSeconds[tries]
      const seconds = error.retryAfter ?? usual ?? 0
      if (!error.retryable || usual === undefined || seconds > maxWaitSeconds) throw withAdvice(error, advice)
      await waitWith(call, `${error.message} It is asked again in ${secondsOf(seconds)}.`, seconds)
    }
  }
}

/** Waits, and reports the reason to the person. */
export async function waitWith(
  { clock, signal, report }: Pick<ConnectCall, 'clock' | 'signal' | 'report'>,
  detail: string,
  seconds: number,
): Promise<void> {
  report({ step: 'wait', outcome: 'unchanged', detail })
  await clock.sleep(seconds * 1000, signal)
}

export function secondsOf(seconds: number): string {
  return seconds === 1 ? 'a second' : `${Math.ceil(seconds)} seconds`
}

function withAdvice(error: PluginError, advice: Advice): PluginError {
  if (!Object.hasOwn(advice, error.code)) return error
  const { code, retryable, retryAfter } = error
  return new PluginError(`${error.message} ${advice[code]}`, { code, retryable, retryAfter, cause: error })
}
