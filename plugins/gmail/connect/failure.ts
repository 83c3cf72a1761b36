/** Recognises the errors of setup. */

import { isPluginError, type PluginError } from '@reveille/kit'

export function hasCode(error: unknown, ...codes: readonly string[]): error is PluginError {
  return isPluginError(error) && codes.includes(error.code)
}
