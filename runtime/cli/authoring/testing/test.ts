/** `reveille test`: runs the `tests:` of mapping files as the gateway would handle their requests, and stores nothing. */

import { formatPlace, writePath } from '@reveille/engine'
import { placeFrom } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { countsOf, isGood, writeRun } from './report.ts'
import { runSource, type TestOutcome, type TestRun } from './run.ts'
import { findTestSource } from './source.ts'
import { watchSource } from './watch.ts'

export async function test(patterns: readonly string[], options: CommandOptions, io: Io): Promise<number> {
  const source = findTestSource(options, io)
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
