/** Owns the face of a source that is live: a run holds its instance, and says nothing that shows a secret of the plugin's. */

import {
  PluginError,
  type Redact,
  recordOf,
  type Source,
  type SourceCall,
  type SourceReport,
} from '@reveille/kit'
import type { Instance } from './instance.ts'
import { redactError } from './redaction.ts'

/** The same for as long as the source's configuration is the same: to whom it is another, it is another source. */
export interface LiveSource {
  readonly name: string
  /** As the contract of sources says. @throws whatever the plugin does, redacted; PluginError `closed` once it is closed */
  run(call: SourceCall): Promise<void>
}

export function createSourceHandle(instance: Instance): LiveSource {
  const { specification, provided, redact } = instance
  const { name } = specification
  return {
    name,
    async run(call) {
      if (!instance.hold()) {
        throw new PluginError(`The source ${name} is closed.`, { code: 'closed', retryable: false })
      }
      try {
        await (provided as Source).run({
          ...call,
          report: (report) => call.report(redactReport(report, redact)),
        })
      } catch (error) {
        throw redactError(error, redact)
      } finally {
        // Not awaited: the run is over, and the last holder's release takes as long as the plugin's close.
        void instance.release()
      }
    },
  }
}

/** Made by a plugin, so that its type is no more than a promise. */
function redactReport(report: SourceReport, redact: Redact): SourceReport {
  const detail: unknown = recordOf(report)?.['detail']
  return { ...report, detail: typeof detail === 'string' ? redact(detail) : '' }
}
