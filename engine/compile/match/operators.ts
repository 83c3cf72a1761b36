/** Reads the operators of a body pattern and reports what is wrong with their operands. */

import type { Path } from '../../config/values/path.ts'
import { compileRegex, type Regex, RegexSyntaxError } from '../../regex/regex.ts'
import type { Report } from '../report.ts'
import { warnOfSlashes } from './foreign-syntax.ts'
import { type NumericBound, readBounds } from './numeric-bounds.ts'
import { isScalar, type Scalar, scalarProblem } from './scalar.ts'

export type OperatorTest =
  | { readonly kind: 'exists'; readonly wanted: boolean }
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'suffix'; readonly text: string }
  | { readonly kind: 'anything-but'; readonly values: readonly Scalar[] }
  | { readonly kind: 'numeric'; readonly bounds: readonly NumericBound[] }
  | { readonly kind: 'pattern'; readonly regex: Regex }

type Reader = (operand: unknown, path: Path, report: Report) => OperatorTest | undefined

/** The order is that of testing, cheap ones first. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['exists', readExists],
  ['anything-but', readAnythingBut],
  ['numeric', readNumeric],
  ['prefix', readAffix('prefix')],
  ['suffix', readAffix('suffix')],
  ['pattern', readRegex],
])

export const operatorNames: ReadonlySet<string> = new Set(readers.keys())

/** Reads a map whose keys are all names of operators. Returns undefined if a mistake was reported. */
export function readOperators(
  value: Readonly<Record<string, unknown>>,
  path: Path,
  report: Report,
): readonly OperatorTest[] | undefined {
  const tests: OperatorTest[] = []
  let sound = true
  for (const [name, read] of readers) {
    if (!Object.hasOwn(value, name)) continue
    const test = read(value[name], [...path, name], report)
    if (test === undefined) sound = false
    else tests.push(test)
  }
  if (!sound) return undefined
  if (tests.length > 1 && tests.some((test) => test.kind === 'exists' && !test.wanted)) {
    const hint = 'Keep one of them, or list both: `[{ exists: false }, { prefix: … }]` matches either.'
    refusePattern(path, 'asks a field that is absent for more, which never holds', hint, report)
    return undefined
  }
  return tests
}

function readExists(wanted: unknown, path: Path, report: Report): OperatorTest | undefined {
  if (typeof wanted === 'boolean') return { kind: 'exists', wanted }
  return refusePattern(path, 'must be true or false', 'Write it without quotes.', report)
}

function readAffix(kind: 'prefix' | 'suffix'): Reader {
  const place = kind === 'prefix' ? 'begins' : 'ends'
  return (text, path, report) => {
    if (typeof text === 'string' && text !== '') return { kind, text }
    const hint = `Write what the text ${place} with; for one of several, list the operators: \`[{ ${kind}: a }, { ${kind}: b }]\`.`
    return refusePattern(path, 'must be text, and not empty', hint, report)
  }
}

function readAnythingBut(operand: unknown, path: Path, report: Report): OperatorTest | undefined {
  const isList = Array.isArray(operand)
  const values: readonly unknown[] = isList ? operand : [operand]
  const hint = 'Write what it must not equal, or a list of such values.'
  if (values.length === 0) return refusePattern(path, 'must not be an empty list', hint, report)
  const wrong = values.findIndex((value) => !isScalar(value))
  if (wrong !== -1)
    return refusePattern(isList ? [...path, wrong] : path, scalarProblem(values[wrong]), hint, report)
  return { kind: 'anything-but', values: values.filter(isScalar) }
}

function readNumeric(operand: unknown, path: Path, report: Report): OperatorTest | undefined {
  const read = readBounds(operand)
  if (read.bounds !== undefined) return { kind: 'numeric', bounds: read.bounds }
  const place = read.at === undefined ? path : [...path, read.at]
  return refusePattern(
    place,
    read.problem,
    'Write `numeric: [">", 10, "<=", 20]`: all of the pairs must hold.',
    report,
  )
}

function readRegex(source: unknown, path: Path, report: Report): OperatorTest | undefined {
  const regex = readPatternText(source, path, report)
  return regex && { kind: 'pattern', regex }
}

/** Reads the regular expression of a `pattern`, of the body or of a header. */
export function readPatternText(source: unknown, path: Path, report: Report): Regex | undefined {
  if (typeof source !== 'string' || source === '')
    return refusePattern(
      path,
      'must be a regular expression',
      'Write it as text: `pattern: "^v[0-9]+$"`.',
      report,
    )
  warnOfSlashes(source, path, report)
  try {
    return compileRegex(source)
  } catch (error) {
    if (!(error instanceof RegexSyntaxError)) throw error
    const { message, offset, hint } = error
    report.error({ code: 'INVALID_REGEX', path, message, hint, offset })
    return undefined
  }
}

/** Completes a sentence that begins with the pattern's name. */
export function refusePattern(path: Path, message: string, hint: string, report: Report): undefined {
  report.error({ code: 'INVALID_PATTERN', path, message, hint })
  return undefined
}
