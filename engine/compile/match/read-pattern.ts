/** Reads what `match.body` and `match.headers` ask for into patterns. */

import type { HeaderPattern } from '../../config/schema/mapping-schema.ts'
import type { Path } from '../../config/values/path.ts'
import type { Report } from '../fields/report.ts'
import {
  refuseForeignLogic,
  refuseForeignOperators,
  warnOfForeignKey,
  warnOfForeignText,
} from './foreign-syntax.ts'
import { asksForAbsence, isCostly, operatorNames, readOperators, refusePattern } from './operators.ts'
import type { KeysPattern, Pattern } from './pattern.ts'
import { isScalar, type Scalar, scalarProblem } from './scalar.ts'

/** Reports all mistakes, and returns undefined if there are any. The top level lists keys, whatever their names. */
export function readBody(value: unknown, path: Path, report: Report): KeysPattern | undefined {
  if (isMap(value)) return refuseForeignLogic(value, path, report) ? undefined : readKeys(value, path, report)
  return refusePattern(
    path,
    'must be a map of keys of the payload',
    'Write `body: { action: opened }`.',
    report,
  )
}

function readPattern(value: unknown, path: Path, report: Report): Pattern | undefined {
  if (Array.isArray(value)) return readList(value, path, report)
  if (isMap(value)) return readMap(value, path, report)
  if (isScalar(value)) {
    if (typeof value === 'string') warnOfForeignText(value, path, report)
    return valuesPattern([value])
  }
  const hint = 'To match a field that is there, whatever it holds, write `{ exists: true }`.'
  return refusePattern(path, scalarProblem(value), hint, report)
}

function readList(values: readonly unknown[], path: Path, report: Report): Pattern | undefined {
  if (values.length === 0) {
    const hint = 'List what it may equal, or remove it. For any list, write `{ exists: true }`.'
    return refusePattern(path, 'must not be an empty list: nothing would match', hint, report)
  }
  const read: readonly (Pattern | undefined)[] = values.map((value, index) =>
    readPattern(value, [...path, index], report),
  )
  if (!isComplete(read)) return undefined
  if (read.length === 1) return read[0]
  // A long list of values is tested with one lookup.
  const scalars = values.filter(isScalar)
  const others = read.filter((_pattern, index) => !isScalar(values[index]))
  const patterns = scalars.length === 0 ? others : [valuesPattern(scalars), ...others]
  return patterns.length === 1 ? patterns[0] : { kind: 'any', patterns }
}

export function valuesPattern(values: readonly Scalar[]): Pattern {
  return { kind: 'values', values: new Set(values) }
}

function readMap(value: Readonly<Record<string, unknown>>, path: Path, report: Report): Pattern | undefined {
  const names = Object.keys(value)
  if (names.length === 0) {
    const hint = 'For a field that is there, whatever it holds, write `{ exists: true }`.'
    return refusePattern(path, 'must not be an empty map', hint, report)
  }
  if (refuseForeignOperators(value, operatorNames, path, report)) return undefined
  const operators = names.filter((name) => operatorNames.has(name))
  if (operators.length === names.length) {
    const hint = 'Keep one of them, or list both: `[{ exists: false }, { prefix: … }]` matches either.'
    return readTests(value, path, { report, what: 'field', hint })
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
): KeysPattern | undefined {
  const names = Object.keys(value)
  if (names.length === 0) {
    const hint = 'Write the keys that a payload must have, or remove it.'
    return refusePattern(path, 'must not be empty', hint, report)
  }
  for (const name of names) warnOfForeignKey(name, [...path, name], report)
  const patterns = names.map((name) => readPattern(value[name], [...path, name], report))
  if (!isComplete(patterns)) return undefined
  const entries = names.map((name, index) => [name, patterns[index] as Pattern] as const)
  return { kind: 'keys', keys: entries.sort(([, one], [, other]) => costOf(one) - costOf(other)) }
}

function isComplete(patterns: readonly (Pattern | undefined)[]): patterns is readonly Pattern[] {
  return !patterns.includes(undefined)
}

/** Returns a rough order, in which a regular expression is tested after cheaper tests. */
function costOf(pattern: Pattern): number {
  switch (pattern.kind) {
    case 'values':
      return pattern.values.size === 1 ? 1 : 2
    case 'any':
      return Math.max(2, ...pattern.patterns.map(costOf))
    case 'operators':
      return pattern.tests.some(isCostly) ? 100 : 2
    case 'keys':
      return 2 + Math.max(2, ...pattern.keys.map(([, inner]) => costOf(inner)))
  }
}

/** Reads what a header must be. `name` is as it was written. */
export function readHeader(
  name: string,
  wanted: HeaderPattern,
  path: Path,
  report: Report,
): Pattern | undefined {
  if (name.includes('_')) {
    const dashed = name
      .toLowerCase()
      .replace(/^http_/, '')
      .replaceAll('_', '-')
    // Senders and proxies write dashes. A name with underscores is that of a CGI variable.
    const message = 'has an underscore, which names of headers do not have'
    report.warn({ code: 'LITERAL_KEY', path, message, hint: `Write \`${dashed}\`.` })
  }
  if (isMap(wanted)) {
    if (Object.values(wanted).some((operand) => operand !== undefined))
      return readTests(wanted, path, { report, what: 'header', hint: 'Keep one.' })
    return refusePattern(path, 'must not be empty', 'Write `{ exists: true }`, or a `pattern`.', report)
  }
  const values = [wanted].flat() as readonly string[]
  for (const [index, value] of values.entries())
    warnOfForeignText(value, typeof wanted === 'string' ? path : [...path, index], report)
  if (values.length > 0) return valuesPattern(values)
  return refusePattern(path, 'must not be an empty list', 'List the texts that it may equal.', report)
}

function readTests(
  map: Readonly<Record<string, unknown>>,
  path: Path,
  { report, what, hint }: { readonly report: Report; readonly what: string; readonly hint: string },
): Pattern | undefined {
  const tests = readOperators(map, path, report)
  if (tests === undefined || tests.length === 1 || !tests.some(asksForAbsence))
    return tests && { kind: 'operators', tests }
  return refusePattern(path, `asks a ${what} that is absent for more, which never holds`, hint, report)
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
