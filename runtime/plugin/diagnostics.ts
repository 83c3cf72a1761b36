/** Owns the places of what is wrong with plugins: a problem names a key, a diagnostic shows the line. */

import type { Configuration, Diagnostic } from '@reveille/engine'
import type { PluginSetupError } from './setup-error.ts'

export function diagnosticsOf(
  { code, problems }: PluginSetupError,
  configuration: Configuration,
): Diagnostic[] {
  return problems.map(({ key, message, hint }) => {
    const place = configuration.locate(key.split(/[.[\]]+/).filter(Boolean))
    return { severity: 'error', code, message: `${key} ${message}`, place, hint }
  })
}
