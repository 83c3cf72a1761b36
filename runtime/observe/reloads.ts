/** Logs reloads: what went live, what was refused and why. */

import type { Diagnostic, ReloadEvent } from '@reveille/engine'
import { formatDiagnostic } from '@reveille/engine/text'
import { changesText } from './changes-text.ts'
import type { Log } from './log.ts'

/** A limit, because one mistake in what ten thousand mappings share would be ten thousand lines at once. */
const maxLogged = 100

/** Files below `folder`, the working directory, are shown relative to it, so that they can be opened from there. */
export function createReloadReporter(log: Log, folder: string): (event: ReloadEvent) => void {
  function logDiagnostic(diagnostic: Diagnostic, generation?: number) {
    const { severity, code, place } = diagnostic
    const facts = { event: 'diagnostic', generation, code, line: place?.line, column: place?.column }
    const text = formatDiagnostic(diagnostic, folder)
    if (severity === 'error') log.error({ ...facts, file: place?.file }, text)
    else log.warn({ ...facts, file: place?.file }, text)
  }

  function logAll(diagnostics: readonly Diagnostic[], generation?: number) {
    for (const diagnostic of diagnostics.slice(0, maxLogged)) logDiagnostic(diagnostic, generation)
    const more = diagnostics.length - maxLogged
    if (more > 0)
      logDiagnostic(moreDiagnostics(more, generation === undefined ? 'error' : 'warning'), generation)
  }

  /** The generation that a process starts with is no change. */
  let isFirst = true

  /** Identifies the refusal that the files have now. */
  let refusal: string | undefined

  return function report(event) {
    const { type } = event
    switch (event.type) {
      case 'snapshot-swapped': {
        const { generation, digest, tookMs, mappings, rolledBack } = event
        // `restart-required` has a line of its own.
        refusal = undefined
        const changes = isFirst ? '' : changesText({ ...event.changes, restart: [] })
        isFirst = false
        log.info({
          event: type,
          generation,
          digest,
          tookMs,
          mappings,
          ...(changes && { changes }),
          ...(rolledBack && { rolledBack }),
        })
        logAll(event.diagnostics, generation)
        return
      }
      case 'candidate-rejected': {
        const before = refusal
        refusal = JSON.stringify([event.digest, event.rollbackTo, event.diagnostics])
        const isAgain = refusal === before
        log.error({
          event: type,
          errors: event.diagnostics.filter(({ severity }) => severity === 'error').length,
          digest: event.digest,
          tookMs: event.tookMs,
          rollbackTo: event.rollbackTo,
          ...(isAgain && { isAgain }),
        })
        if (!isAgain) logAll(event.diagnostics)
        return
      }
      case 'content-unchanged':
        log.debug({ event: type, generation: event.generation, tookMs: event.tookMs })
        if (refusal !== undefined) log.info({ event: 'files-fixed', generation: event.generation })
        refusal = undefined
        return
      case 'restart-required':
        log.warn({ event: type, generation: event.generation, keys: event.keys })
        return
      case 'release-failed':
        log.error({ event: type, err: event.error }, 'what is no longer used could not be let go of')
        return
      case 'watch-failed':
        log.error({ event: type, err: event.error }, 'changed files may go unseen')
    }
  }
}

function moreDiagnostics(count: number, severity: Diagnostic['severity']): Diagnostic {
  return {
    severity,
    code: 'MORE_DIAGNOSTICS',
    message: `There are ${count} more`,
    hint: '`reveille check` and `reveille test` tell all that the files have now.',
  }
}
