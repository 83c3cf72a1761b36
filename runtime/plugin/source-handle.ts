/** Owns the face of a source that is live: a run holds its instance, and says nothing that shows a secret of the plugin's. */

import { PluginError, type Redact, type Source, type SourceCall, type SourceReport } from '@reveille/kit'
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

/** Made by a plugin, so that its type is no more than a promise: what is no text and no number is left out. */
function redactReport(report: SourceReport, redact: Redact): SourceReport {
  const { state, detail, times, counts } = (report ?? {}) as Partial<SourceReport>
  const numbers = (named: unknown) =>
    Object.fromEntries(
      Object.entries((named ?? {}) as object)
        .filter(([, value]) => typeof value === 'number')
        .map(([key, value]) => [redact(key), value]),
    )
  return {
    state: state as SourceReport['state'],
    detail: typeof detail === 'string' ? redact(detail) : '',
    ...(times && { times: numbers(times) }),
    ...(counts && { counts: numbers(counts) }),
  }
}
