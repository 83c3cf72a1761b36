/** Prepares the plugins of a candidate, and reports what is wrong with them where it is written: for a gateway, and for `reveille check`. */

import { CandidateError, type Configuration, type Diagnostic, type Snapshot } from '@reveille/engine'
import { checkAddresses } from '../configuration/addresses.ts'
import { diagnosticsOf, located } from '../configuration/setup-error.ts'
import type { PluginHost, PreparedPlugins } from './host.ts'

/** @throws CandidateError */
export function prepareCandidate(
  plugins: Pick<PluginHost, 'prepare'>,
  configuration: Configuration,
  snapshot: Snapshot,
  options: { readonly isDryRun: boolean },
): Promise<PreparedPlugins & { readonly warnings: readonly Diagnostic[] }> {
  return located(configuration, async () => {
    const prepared = await plugins.prepare(snapshot, options)
    const wrong = checkAddresses(configuration, prepared.addresses)
    if (wrong.length > 0) {
      await prepared.discard()
      throw new CandidateError(wrong)
    }
    const lacking = { code: 'RUNNER_LACKS', problems: prepared.lacking } as const
    return { ...prepared, warnings: diagnosticsOf(lacking, configuration, 'warning') }
  })
}
