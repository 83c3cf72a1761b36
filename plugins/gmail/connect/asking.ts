/** Asks Google, and again if the refusal may pass. */

import { type ConnectCall, isPluginError } from '@reveille/kit'

/** Waits before each try but the first, if Google asks for no other wait. */
const waitsSeconds = [2, 4, 8]
/** After a longer wait the person at the terminal is better served by the error. */
const maxWaitSeconds = 60

export async function ask<Value>(call: ConnectCall, question: () => Promise<Value>): Promise<Value> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await question()
    } catch (error) {
      if (call.signal.aborted || !isPluginError(error)) throw error
      const usual = waitsSeconds[tries]
      const seconds = error.retryAfter ?? usual ?? 0
      if (!error.retryable || usual === undefined || seconds > maxWaitSeconds) throw error
      const wait = seconds === 1 ? 'a second' : `${Math.ceil(seconds)} seconds`
      const detail = `${error.message} It is asked again in ${wait}.`
      call.report({ step: 'wait', outcome: 'unchanged', detail })
      await call.clock.sleep(seconds * 1000, call.signal)
    }
  }
}
