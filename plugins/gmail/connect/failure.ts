/** Owns how setup fails: in sentences that say what to do. */

import { isPluginError, PluginError } from '@reveille/kit'

/** What a person has to mend. */
export function setupError(code: string, message: string): PluginError {
  return new PluginError(message, { code, retryable: false })
}

export function hasCode(error: unknown, ...codes: readonly string[]): error is PluginError {
  return isPluginError(error) && codes.includes(error.code)
}
