/** Formats the results of tests for people: a line for each, and for a failed one everything that explains it. */

import { type Mismatch, type TestResult, type Unmatched, writePath } from '@reveille/engine'
import { blanks, formatPlace, shownFile } from '@reveille/engine/text'
import { diffArrays } from 'diff'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { formatDiagnostics, placeFrom } from '../../configuration.ts'
import { type Io, paintFor } from '../../io.ts'
import { errorsOf } from '../../print.ts'
import { formatClause } from '../clause.ts'
import type { TestOutcome, TestRun, UnitRun } from './run.ts'

/** Number of mappings shown where none matched. */
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
  return `There are no tests in ${source}.\n\nWrite them beside the mappings, in the same file:\n${example}`
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
  const lines = results.flatMap((result) => {
    const name = printable(result.test.value.name)
    const calls = result.calls.map((each) => paint.dim(`      ${printable(each)}, for real`))
    if (result.passed) return [`  ${paint.green('✓')} ${name}`, ...calls]
    if (result.takenBy !== undefined) {
      const note = `${result.test.value.name}: your mapping "${result.takenBy}" takes its request`
      return [paint.dim(`  - ${printable(note)}`)]
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
  return [
    place === undefined ? head : `${head}  ${paint.dim(placeFrom(place, folder, io))}`,
    ...(clause ? formatClause(clause).map((line) => `  ${line}`) : []),
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

type Difference = Pick<Mismatch, 'expected' | 'actual' | 'texts'>

/** Longer lines are cut around the first difference. UTF-16 units. */
const shownColumns = 100
const minColumns = 20
/** The equal lines that are shown around a difference. */
const shownAround = 2
/** The lines that are shown of a text that only had to contain something. */
const shownLines = 20
/** Maximum number of lines in a difference. */
const maxLines = 60
/** With more edits than this the texts have nothing in common. */
const maxEdits = 1000
const labels = { expected: 'expected  ', actual: 'actual    ' }

/** Returns lines without indentation, of at most so many columns. */
export function formatDifference(
  { expected, actual, texts }: Difference,
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const room = Math.max(Math.min(shownColumns, columns - labels.actual.length - 2), minColumns)
  const cut = (text: string, from: number) => cutTo(room, text, from)
  if (texts === undefined) return pair(cut(expected, 0), cut(actual, 0))
  const { wanted, part } = texts
  const isLong = [texts.actual, wanted, part].some((text) => text?.includes('\n'))
  if (wanted !== undefined) {
    return isLong
      ? lineDifference(wanted, texts.actual, paint)
      : markedDifference(expected, actual, paint, room)
  }
  if (!isLong) return pair(cut(expected, 0), cut(actual, 0))
  const before = part?.includes('\n') ? expected.replace(JSON.stringify(part), () => '').trimEnd() : expected
  return [
    `${labels.expected}${cut(before, 0)}`,
    ...(part?.includes('\n') ? block(part, cut) : []),
    labels.actual.trim(),
    ...block(texts.actual, cut),
  ]
}

function markedDifference(expected: string, actual: string, paint: Paint, room: number): string[] {
  const at = firstDifference(expected, actual)
  const from = at > room - 20 ? at - Math.floor(room / 2) : 0
  const before = labels.actual + (from > 0 ? '…' : '') + actual.slice(from, at)
  return [...pair(cutTo(room, expected, from), cutTo(room, actual, from)), paint.red(`${blanks(before)}^`)]
}

function pair(expected: string, actual: string): string[] {
  return [`${labels.expected}${expected}`, `${labels.actual}${actual}`]
}

function lineDifference(wanted: string, actual: string, paint: Paint): string[] {
  const expectedLines = wanted.split('\n')
  const other = actual.split('\n')
  const changes = diffArrays(expectedLines, other, { maxEditLength: maxEdits }) ?? [
    { value: expectedLines, removed: true, added: false },
    { value: other, removed: false, added: true },
  ]
  const legend = `${paint.red('- expected')}  ${paint.green('+ actual')}`
  const lines = changes.flatMap(({ value, removed, added }, index) => {
    const marked = (mark: string) => (line: string) => `${mark} ${printable(line)}`
    if (removed) return value.map(marked('-')).map(paint.red)
    if (added) return value.map(marked('+')).map(paint.green)
    return shortened(value, index === 0, index === changes.length - 1).map(marked(' '))
  })
  const more = lines.length - maxLines
  return [legend, ...lines.slice(0, maxLines), ...(more > 0 ? [`… ${more} more lines`] : [])]
}

/** Equal lines help only near a difference. */
function shortened(lines: readonly string[], isFirst: boolean, isLast: boolean): readonly string[] {
  const before = isFirst ? 0 : shownAround
  const after = isLast ? 0 : shownAround
  if (lines.length <= before + after + 1) return lines
  return [...lines.slice(0, before), '…', ...(after === 0 ? [] : lines.slice(-after))]
}

function block(text: string, cut: (line: string, from: number) => string): string[] {
  const lines = text.split('\n')
  const more = lines.length - shownLines
  const shown = lines.slice(0, shownLines).map((line) => `│ ${cut(line, 0)}`.trimEnd())
  return more > 0 ? [...shown, `│ … ${more} more ${more === 1 ? 'line' : 'lines'}`] : shown
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

function cutTo(room: number, text: string, from: number): string {
  const shown = printable(text.slice(from, from + room))
  return `${from > 0 ? '…' : ''}${shown}${text.length > from + room ? '…' : ''}`
}
