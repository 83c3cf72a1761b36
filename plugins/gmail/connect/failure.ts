/** Makes and recognises the errors of setup, whose sentences say what to do. */

import { isPluginError, PluginError } from '@reveille/kit'

/** Makes an error that a person has to fix. */
export function setupError(code: string, message: string): PluginError {
  return new PluginError(message, { code, retryable: false })
}

export function hasCode(error: unknown, ...codes: readonly string[]): error is PluginError {
  return isPluginError(error) && codes.includes(error.code)
}
