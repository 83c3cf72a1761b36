/** Owns what the log says of reloads: what went live, what was refused and why. */

import { type Diagnostic, formatDiagnostic, type ReloadEvent } from '@reveille/engine'
import { changesText } from './changes-text.ts'
import type { Log } from './log.ts'

/** One mistake in what ten thousand mappings share is ten thousand lines, written at once. */
const mostTold = 100

/** Files below `folder`, where the operator stands, are told relative to it: that is how they are opened from there. */
export function createReloadReporter(log: Log, folder: string): (event: ReloadEvent) => void {
  function tell(diagnostic: Diagnostic, generation?: number) {
    const { severity, code, place } = diagnostic
    const facts = { event: 'diagnostic', generation, code, line: place?.line, column: place?.column }
    const text = formatDiagnostic(diagnostic, folder)
    if (severity === 'error') log.error({ ...facts, file: place?.file }, text)
    else log.warn({ ...facts, file: place?.file }, text)
  }

  function tellAll(diagnostics: readonly Diagnostic[], generation?: number) {
    for (const diagnostic of diagnostics.slice(0, mostTold)) tell(diagnostic, generation)
    const more = diagnostics.length - mostTold
    if (more > 0) tell(moreThanTold(more, generation === undefined ? 'error' : 'warning'), generation)
  }

  /** All that a process begins with is new to it, and no change. */
  let isFirst = true

  /** Of the refusal that stands. */
  let standing: string | undefined

  return function report(event) {
    const { type, ...facts } = event
    switch (event.type) {
      case 'snapshot-swapped': {
        const { generation, digest, tookMs, mappings, rolledBack } = event
        // What waits for a restart has a line of its own.
        standing = undefined
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
        tellAll(event.warnings, generation)
        return
      }
      case 'candidate-rejected': {
        const before = standing
        standing = JSON.stringify([event.digest, event.rollbackTo, event.diagnostics])
        const isAgain = standing === before
        log.error({
          event: type,
          errors: event.diagnostics.filter(({ severity }) => severity === 'error').length,
          digest: event.digest,
          tookMs: event.tookMs,
          rollbackTo: event.rollbackTo,
          ...(isAgain && { isAgain }),
        })
        if (!isAgain) tellAll(event.diagnostics)
        return
      }
      case 'content-unchanged':
        log.debug({ event: type, ...facts })
        if (standing !== undefined) log.info({ event: 'files-mended', generation: event.generation })
        standing = undefined
        return
      case 'restart-required':
        log.warn({ event: type, ...facts })
        return
      case 'release-failed':
        log.error({ event: type, err: event.error }, 'what is no longer used could not be let go of')
        return
      case 'watch-failed':
        log.error({ event: type, err: event.error }, 'changed files may go unseen')
    }
  }
}

function moreThanTold(count: number, severity: Diagnostic['severity']): Diagnostic {
  return {
    severity,
    code: 'MORE_DIAGNOSTICS',
    message: `There are ${count} more`,
    hint: '`reveille check` and `reveille test` tell all that the files have now.',
  }
}
