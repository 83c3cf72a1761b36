/** Formats the results of tests for people: a line for each, and for a failed one everything that explains it. */

import {
  formatPlace,
  type Mismatch,
  shownFile,
  type TestResult,
  type Unmatched,
  writePath,
} from '@reveille/engine'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { wrapWords } from '../../../observe/wrap-words.ts'
import { formatDiagnostics, placeFrom } from '../../configuration.ts'
import { type Io, paintFor } from '../../io.ts'
import { errorsOf } from '../../records/generations.ts'
import { formatClause } from '../clause.ts'
import { formatDifference } from './difference.ts'
import type { TestOutcome, TestRun } from './run.ts'
import type { UnitRun } from './unit-tests.ts'

/** How many mappings are shown where none matched. */
const shownUnmatched = 3

/** The results go to standard output, diagnostics to standard error. */
export function writeRun(run: TestRun, io: Io): void {
  const paint = paintFor(io)
  if (!run.ok) {
    io.err(
      `${formatDiagnostics(run.diagnostics, io)}\n\nNo test was run: ${errorsOf(run)} in ${run.source}.\n`,
    )
    return
  }
  for (const pattern of run.unmatchedPatterns) io.err(`No test matches "${printable(pattern)}".\n`)
  if (run.results.length > 0) {
    const setting = { paint, io, folder: run.folder }
    const files = Map.groupBy(run.results, ({ test }) => test.locate([]).file)
    const blocks = [...files.values()].map((results) => formatFile(results, setting))
    io.out(`${blocks.join('\n')}\n${closing(run.results, run.tookMs, paint)}\n${run.units ? '\n' : ''}`)
  } else if (!run.units && run.known === 0) io.out(noTests(run.source))
  if (run.units) io.out(formatUnits(run.units, paint, io))
}

function formatUnits({ files, output }: UnitRun, paint: Paint, io: Io): string {
  const shown = files.map((file) => shownFile({ file }, io.cwd))
  return `${paint.bold(shown.join(', '))}\n${output}\n`
}

export function isGood(run: TestRun): boolean {
  return (
    run.ok && run.units?.passed !== false && run.results.every((result) => result.passed || isTaken(result))
  )
}

function isTaken({ takenBy }: TestOutcome): boolean {
  return takenBy !== undefined
}

function noTests(source: string): string {
  return `There are no tests in ${source}.\n\nThey stand beside the mappings, in the same file:\n${example}`
}

const example = `
  tests:
    - name: an opened pull request is reviewed
      request:
        endpoint: github
        headers: { x-github-event: pull_request }
        body: { action: opened, number: 42 }
      expect: { action: agent, message: { contains: "#42" } }
`

interface Setting {
  readonly paint: Paint
  readonly io: Io
  /** The folder that places of mappings are relative to. */
  readonly folder: string
}

function formatFile(results: readonly TestOutcome[], setting: Setting): string {
  const { paint, io } = setting
  const { columns = Number.POSITIVE_INFINITY } = io
  const lines = results.flatMap((result) => {
    const hung = (text: string) => wrapWords(printable(text), columns - 4).join('\n    ')
    const name = hung(result.test.value.name)
    const calls = result.calls.map((each) => paint.dim(`      ${printable(each)}, for real`))
    if (result.passed) return [`  ${paint.green('✓')} ${name}`, ...calls]
    if (result.takenBy !== undefined) {
      const note = `${result.test.value.name}: your mapping "${result.takenBy}" takes its request`
      return [paint.dim(`  - ${hung(note)}`)]
    }
    return [
      `  ${paint.red('✗')} ${paint.bold(name)}`,
      ...calls,
      ...formatFailure(result, setting).map(setIn),
      '',
    ]
  })
  const { test } = results[0] as TestOutcome
  return `${[paint.bold(shownFile(test.locate([]), io.cwd)), ...lines].join('\n').trimEnd()}\n`
}

const indent = ' '.repeat(6)

function setIn(line: string): string {
  return line === '' ? '' : `${indent}${line}`
}

function formatFailure({ mismatches, observed, unmatched }: TestResult, setting: Setting): string[] {
  const { paint, io } = setting
  const differences = mismatches.flatMap((mismatch) => formatMismatch(mismatch, paint, io))
  const reason = observed?.reason === undefined ? [] : ['', `because    ${printable(observed.reason)}`]
  const why = unmatched.slice(0, shownUnmatched).flatMap((each) => ['', ...formatUnmatched(each, setting)])
  const more = unmatched.length - shownUnmatched
  return [
    ...differences,
    ...reason,
    ...why,
    ...(more > 0 ? [paint.dim(`… and ${more} more that did not match`)] : []),
  ]
}

function formatMismatch(mismatch: Mismatch, paint: Paint, io: Io): string[] {
  const { path, place, hint } = mismatch
  const what = path[0] === 'expect' && path.length > 1 ? path.slice(1) : path
  return [
    `${paint.cyan(formatPlace(place, io.cwd))}  ${writePath(what)}`,
    ...formatDifference(mismatch, paint, (io.columns ?? Number.POSITIVE_INFINITY) - indent.length),
    ...(hint === undefined ? [] : [`hint: ${printable(hint)}`]),
  ]
}

function formatUnmatched({ mapping, place, reason, clause }: Unmatched, setting: Setting): string[] {
  const { paint, io, folder } = setting
  const head = `mapping "${printable(mapping)}" ${reason}`
  const room = (io.columns ?? Number.POSITIVE_INFINITY) - indent.length - 2
  return [
    place === undefined ? head : `${head}  ${paint.dim(placeFrom(place, folder, io))}`,
    ...(clause ? formatClause(clause, room).map((line) => `  ${line}`) : []),
  ]
}

function closing(results: readonly TestOutcome[], tookMs: number, paint: Paint): string {
  const { passed, failed, taken } = countsOf(results)
  const counts = [
    ...(passed > 0 ? [paint.green(`${passed} passed`)] : []),
    ...(failed > 0 ? [paint.red(`${failed} failed`)] : []),
    ...(taken > 0 ? [`${taken} taken by your mappings`] : []),
  ]
  return `${counts.join(', ')} ${paint.dim(`(${(tookMs / 1000).toFixed(1)} s)`)}`
}

export function countsOf(results: readonly TestOutcome[]) {
  const passed = results.filter((result) => result.passed).length
  const taken = results.filter(isTaken).length
  return { passed, failed: results.length - passed - taken, taken }
}
