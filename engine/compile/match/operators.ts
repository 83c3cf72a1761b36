/**
 * The operators of a body pattern, in the order of testing. A row reads the operand once, and gives the test and the words
 * for it. The editor's schema of an operand is in `config/schema/editor-schema.ts`.
 */

import { type Path, writePath } from '../../config/values/path.ts'
import { compileRegex, type Regex, RegexLimitError, RegexSyntaxError } from '../../regex/regex.ts'
import type { Containment } from '../../resolve/model/containment.ts'
import { ClauseError } from '../../resolve/model/program.ts'
import type { Report } from '../fields/report.ts'
import { warnOfSlashes } from './foreign-syntax.ts'
import { isScalar, type Scalar, scalarProblem } from './scalar.ts'
import { listed, quoted } from './words.ts'

interface Test {
  /** Tests a value that is there, and no list. @throws ClauseError, NeedsThread */
  readonly holds: (value: unknown, containment: Containment) => boolean
  /** Ends a sentence that begins with "expected". */
  readonly words: () => string
}

export interface OperatorTest extends Test {
  readonly name: string
  readonly operand: unknown
}

interface Operator {
  /** True if it is tested after every other test of a pattern. */
  readonly isCostly?: true
  /** True if it holds for texts alone. */
  readonly isOfText?: true
  /** Returns undefined for an operand that was refused. */
  read(operand: unknown, at: Operand): Test | undefined
}

interface Operand {
  readonly path: Path
  readonly report: Report
  /** `at` is the position in a list, if one is to blame. */
  refuse(message: string, hint: string, at?: number): undefined
}

const operators: Readonly<Record<string, Operator>> = {
  exists: {
    read: (wanted, { refuse }) =>
      typeof wanted === 'boolean'
        ? { holds: () => wanted, words: () => (wanted ? 'the field to be there' : 'no such field') }
        : refuse('must be true or false', 'Write it without quotes.'),
  },
  'anything-but': {
    read(operand, { refuse }) {
      const values: readonly unknown[] = Array.isArray(operand) ? operand : [operand]
      const hint = 'Write what it must not equal, or a list of such values.'
      if (values.length === 0) return refuse('must not be an empty list', hint)
      const wrong = values.findIndex((value) => !isScalar(value))
      if (wrong !== -1)
        return refuse(scalarProblem(values[wrong]), hint, Array.isArray(operand) ? wrong : undefined)
      const refused = new Set(values)
      return {
        holds: (value) => !refused.has(value),
        words: () => `anything but ${listed(values.map((value) => quoted(value as Scalar)))}`,
      }
    },
  },
  numeric: { read: readNumeric },
  prefix: affix('begins', (value, text) => value.startsWith(text)),
  suffix: affix('ends', (value, text) => value.endsWith(text)),
  pattern: {
    isCostly: true,
    read(source, { path, report }) {
      const regex = readRegex(source, path, report)
      return (
        regex && {
          holds: (value, containment) => isFound(regex, value, containment, path),
          words: () => `text matching /${regex.source}/`,
        }
      )
    },
  },
}

export const operatorNames: ReadonlySet<string> = new Set(Object.keys(operators))

export function isCostly({ name }: OperatorTest): boolean {
  return operators[name]?.isCostly === true
}

/** True if the test alone decides that the field must be absent. */
export function asksForAbsence({ name, operand }: OperatorTest): boolean {
  return name === 'exists' && operand === false
}

/** Reads the operators that a map has, whose keys are all names of operators. Returns undefined if a mistake was reported. */
export function readOperators(
  map: Readonly<Record<string, unknown>>,
  path: Path,
  report: Report,
): readonly OperatorTest[] | undefined {
  const tests: OperatorTest[] = []
  const written = Object.entries(operators).filter(([name]) => Object.hasOwn(map, name))
  for (const [name, operator] of written) {
    const operand = map[name]
    const own = [...path, name]
    const refuse: Operand['refuse'] = (message, hint, at) =>
      refusePattern(at === undefined ? own : [...own, at], message, hint, report)
    const test = operator.read(operand, { path: own, report, refuse })
    if (test !== undefined) tests.push({ name, operand, ...test })
  }
  return tests.length === written.length ? tests : undefined
}

/** Completes a sentence that begins with the pattern's name. */
export function refusePattern(path: Path, message: string, hint: string, report: Report): undefined {
  report.error({ code: 'INVALID_PATTERN', path, message, hint })
  return undefined
}

function affix(place: 'begins' | 'ends', holds: (value: string, text: string) => boolean): Operator {
  const name = place === 'begins' ? 'prefix' : 'suffix'
  const hint = `Write what the text ${place} with; for one of several, list the operators: \`[{ ${name}: a }, { ${name}: b }]\`.`
  return {
    read: (text, { refuse }) =>
      typeof text === 'string' && text !== ''
        ? {
            holds: (value) => typeof value === 'string' && holds(value, text),
            words: () => `text that ${place} with ${quoted(text)}`,
          }
        : refuse('must be text, and not empty', hint),
  }
}

const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '=': (value, bound) => value === bound,
  '!=': (value, bound) => value !== bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
}

/** Reads pairs of a comparison and a number. All of them must hold. */
function readNumeric(operand: unknown, { refuse }: Operand): Test | undefined {
  const hint = 'Write `numeric: [">", 10, "<=", 20]`: all of the pairs must hold.'
  if (!Array.isArray(operand) || operand.length === 0 || operand.length % 2 === 1)
    return refuse('must be a list of pairs, each an operator and a number', hint)
  const bounds: { readonly sign: string; readonly value: number }[] = []
  for (let at = 0; at < operand.length; at += 2) {
    const [sign, value] = operand.slice(at, at + 2)
    if (!Object.hasOwn(comparisons, sign))
      return refuse(`must be one of ${Object.keys(comparisons).join(' ')}`, hint, at)
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuse('must be a number', hint, at + 1)
    bounds.push({ sign, value })
  }
  const holds = (given: unknown): boolean =>
    typeof given === 'number' && bounds.every(({ sign, value }) => comparisons[sign]?.(given, value))
  const valuesOf = (first: string) =>
    bounds.filter(({ sign }) => sign.startsWith(first)).map(({ value }) => value)
  const [pinned] = valuesOf('=')
  const lowerBound = Math.max(...valuesOf('>'))
  const upperBound = Math.min(...valuesOf('<'))
  // A range of more than one number cannot be emptied by a list of `!=`.
  const isPossible =
    pinned === undefined
      ? lowerBound < upperBound || (lowerBound === upperBound && holds(lowerBound))
      : holds(pinned)
  if (!isPossible) return refuse('holds bounds that no number satisfies together', hint)
  return {
    holds,
    words: () => `a number ${bounds.map(({ sign, value }) => `${sign} ${value}`).join(' and ')}`,
  }
}

function readRegex(source: unknown, path: Path, report: Report): Regex | undefined {
  if (typeof source !== 'string' || source === '') {
    const hint = 'Write it as text: `pattern: "^v[0-9]+$"`.'
    return refusePattern(path, 'must be a regular expression', hint, report)
  }
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

/** If the text is too long to be searched, the error names the clause. */
function isFound(regex: Regex, value: unknown, containment: Containment, path: Path): boolean {
  if (typeof value !== 'string') return false
  try {
    if (regex.isSlow(value)) containment.beginUnbounded()
    const found = regex.test(value)
    containment.checkTime()
    return found
  } catch (cause) {
    if (!(cause instanceof RegexLimitError)) throw cause
    throw new ClauseError(writePath(path), cause.message, { cause })
  }
}
