/** `reveille test`: runs the `tests:` of mapping files as the gateway would handle their requests, and stores nothing. */

import { createWatcher, writePath } from '@reveille/engine'
import { formatPlace } from '@reveille/engine/text'
import { placeFrom } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { createStopSignal } from '../../signals.ts'
import { countsOf, isGood, writeRun } from './report.ts'
import { findTestSource, runSource, type TestOutcome, type TestRun } from './run.ts'

export async function test(patterns: readonly string[], io: Io, options: CommandOptions): Promise<number> {
  const source = findTestSource(io, options)
  const run = () => runSource(source, patterns, io)
  const report = (done: TestRun) => (io.json ? writeJson(done, io) : writeRun(done, io))
  if (options.watch) return watchSource(run, report, { isPlain: io.json === true, io })
  const done = await run()
  report(done)
  // A pattern that matches nothing was meant to match something.
  if (done.ok && done.unmatchedPatterns.length > 0 && done.results.length === 0 && !done.units) return 2
  return isGood(done) ? 0 : 1
}

/** Writes one JSON document for each run. */
function writeJson(run: TestRun, io: Io): void {
  const { source } = run
  const ms = Math.round(run.tookMs)
  const answer = run.ok
    ? {
        ok: isGood(run),
        source,
        ms,
        ...countsOf(run.results),
        ...(run.units && { transforms: run.units }),
        tests: run.results.map((each) => jsonOf(each, run.folder, io)),
      }
    : { ok: false, source, ms, ...countsOf([]), tests: [], diagnostics: run.diagnostics }
  io.out(`${JSON.stringify(answer, null, 2)}\n`)
}

function jsonOf(
  { test, passed, takenBy, mismatches, observed, calls, unmatched }: TestOutcome,
  folder: string,
  io: Io,
) {
  const { file, line, column } = test.locate([])
  const details = mismatches.map(({ path, expected, actual, hint, place }) => ({
    path: writePath(path),
    expected,
    actual,
    hint,
    place: formatPlace(place, io.cwd),
  }))
  const missed = unmatched.map(({ place, ...rest }) => ({
    ...rest,
    ...(place !== undefined && { place: placeFrom(place, folder, io) }),
  }))
  return {
    name: test.value.name,
    file,
    line,
    column,
    passed,
    takenBy,
    mismatches: details,
    observed,
    calls,
    unmatched: missed,
  }
}

/**
 * `isPlain`: nothing is written between two results, for a program that reads them.
 *
 * @returns the exit code of the last run
 */
async function watchSource(
  run: () => Promise<TestRun>,
  report: (done: TestRun) => void,
  { io, isPlain }: { readonly io: Io; readonly isPlain: boolean },
): Promise<number> {
  const stop = createStopSignal({ signals: io.signals })
  const stopped = stop.first.then(() => 'stopped' as const)
  let changed = Promise.withResolvers<'changed'>()
  const watcher = createWatcher({
    onChange: () => changed.resolve('changed'),
    onError: (error) =>
      io.err(`Changes may go unseen: ${error instanceof Error ? error.message : 'unknown'}\n`),
  })
  let last = await run()
  report(last)
  watcher.watch(last.watched)
  io.err('Watching; Ctrl-C ends it.\n')
  while ((await Promise.race([stopped, changed.promise])) === 'changed') {
    changed = Promise.withResolvers()
    const next = await run()
    watcher.watch(next.watched)
    // A change signal may come without a change, and the same content gives the same results.
    if (next.digest === last.digest) continue
    last = next
    if (!isPlain) io.out(`\n${separator(io)}\n`)
    report(last)
  }
  stop.close()
  await watcher.close()
  return isGood(last) ? 0 : 1
}

function separator(io: Io): string {
  const time = new Date(io.now()).toTimeString().slice(0, 8)
  return `── ${time} ${'─'.repeat(Math.max(3, Math.min(io.columns ?? 60, 60) - time.length - 4))}`
}
