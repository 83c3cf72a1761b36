/** Owns how setup fails: in sentences that say what to do. */

import { isPluginError, PluginError } from '@reveille/kit'

/** What a person has to mend. */
export function setupError(code: string, message: string): PluginError {
  return new PluginError(message, { code, retryable: false })
}

export function hasCode(error: unknown, code: string): error is PluginError {
  return isPluginError(error) && error.code === code
}

/** What Google refused, told with what to do about it at this step, by the code of the refusal. */
export async function advised<Value>(
  work: () => Promise<Value>,
  advice: Readonly<Record<string, string>>,
): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!isPluginError(error) || !Object.hasOwn(advice, error.code)) throw error
    const { code, retryable, retryAfter } = error
    throw new PluginError(`${error.message} ${advice[code]}`, { code, retryable, retryAfter, cause: error })
  }
}
