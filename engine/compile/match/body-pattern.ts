/** Reads the patterns of `match.body` into a tree of tests. */

import type { Path } from '../../config/values/path.ts'
import type { Report } from '../report.ts'
import {
  refuseForeignLogic,
  refuseForeignOperators,
  warnOfForeignKey,
  warnOfForeignText,
} from './foreign-syntax.ts'
import { type OperatorTest, operatorNames, readOperators, refusePattern } from './operators.ts'
import { isScalar, type Scalar, scalarProblem } from './scalar.ts'

/** If the payload holds a list, any of its elements may satisfy a pattern. */
export type BodyPattern =
  | { readonly kind: 'equals'; readonly value: Scalar }
  | { readonly kind: 'any'; readonly of: readonly BodyPattern[] }
  /** All of them must hold for the same value. */
  | { readonly kind: 'operators'; readonly tests: readonly OperatorTest[] }
  /** All of them must hold for the same object. They are in the order of testing, cheap ones first. */
  | { readonly kind: 'keys'; readonly keys: ReadonlyMap<string, BodyPattern> }

/** Reports all mistakes, and returns undefined if there are any. The top level lists keys, whatever their names. */
export function readBodyPattern(value: unknown, path: Path, report: Report): BodyPattern | undefined {
  if (isMap(value)) return refuseForeignLogic(value, path, report) ? undefined : readKeys(value, path, report)
  return refusePattern(
    path,
    'must be a map of keys of the payload',
    'Write `body: { action: opened }`.',
    report,
  )
}

function readPattern(value: unknown, path: Path, report: Report): BodyPattern | undefined {
  if (Array.isArray(value)) return readList(value, path, report)
  if (isMap(value)) return readMap(value, path, report)
  if (isScalar(value)) {
    if (typeof value === 'string') warnOfForeignText(value, path, report)
    return { kind: 'equals', value }
  }
  const hint = 'To match a field that is there, whatever it holds, write `{ exists: true }`.'
  return refusePattern(path, scalarProblem(value), hint, report)
}

function readList(values: readonly unknown[], path: Path, report: Report): BodyPattern | undefined {
  if (values.length === 0) {
    const hint = 'List what it may equal, or remove it. For any list, write `{ exists: true }`.'
    return refusePattern(path, 'must not be an empty list: nothing would match', hint, report)
  }
  const of = values.map((value, index) => readPattern(value, [...path, index], report))
  if (!isComplete(of)) return undefined
  return of.length === 1 ? of[0] : { kind: 'any', of }
}

function readMap(
  value: Readonly<Record<string, unknown>>,
  path: Path,
  report: Report,
): BodyPattern | undefined {
  const names = Object.keys(value)
  if (names.length === 0) {
    const hint = 'For a field that is there, whatever it holds, write `{ exists: true }`.'
    return refusePattern(path, 'must not be an empty map', hint, report)
  }
  if (refuseForeignOperators(value, operatorNames, path, report)) return undefined
  const operators = names.filter((name) => operatorNames.has(name))
  if (operators.length === names.length) {
    const tests = readOperators(value, path, report)
    return tests && { kind: 'operators', tests }
  }
  if (operators.length > 0) warnOfMixture(names, operators, path, report)
  return readKeys(value, path, report)
}

/** Keys of a payload may have these names, so the mixture is no error. More often, one of the other names is misspelt. */
function warnOfMixture(
  names: readonly string[],
  operators: readonly string[],
  path: Path,
  report: Report,
): void {
  const other = names.find((name) => !operatorNames.has(name)) ?? ''
  report.warn({
    code: 'MIXED_PATTERN',
    path,
    message: `takes \`${operators.join('`, `')}\` for keys of the payload, because \`${other}\` beside it is no operator`,
    hint: `The operators are ${[...operatorNames].join(', ')}; a map of operators holds nothing else.`,
  })
}

function readKeys(
  value: Readonly<Record<string, unknown>>,
  path: Path,
  report: Report,
): BodyPattern | undefined {
  const names = Object.keys(value)
  if (names.length === 0) {
    return refusePattern(
      path,
      'must not be empty',
      'Write the keys that a payload must have, or remove it.',
      report,
    )
  }
  for (const name of names) warnOfForeignKey(name, [...path, name], report)
  const patterns = names.map((name) => readPattern(value[name], [...path, name], report))
  if (!isComplete(patterns)) return undefined
  const entries = names.map((name, index) => [name, patterns[index] as BodyPattern] as const)
  return { kind: 'keys', keys: new Map(entries.sort(([, a], [, b]) => costOf(a) - costOf(b))) }
}

function isComplete(patterns: readonly (BodyPattern | undefined)[]): patterns is readonly BodyPattern[] {
  return !patterns.includes(undefined)
}

/** Returns a rough order in which a regular expression is tested after cheaper tests. */
function costOf(pattern: BodyPattern): number {
  switch (pattern.kind) {
    case 'equals':
      return 1
    case 'any':
      return dearest(pattern.of)
    case 'operators':
      return pattern.tests.some(({ kind }) => kind === 'pattern') ? 100 : 2
    case 'keys':
      return 2 + dearest(pattern.keys.values())
  }
}

function dearest(patterns: Iterable<BodyPattern>): number {
  let cost = 2
  for (const pattern of patterns) cost = Math.max(cost, costOf(pattern))
  return cost
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
