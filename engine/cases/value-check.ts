/** Compares a value with an expected one, which is a literal or tests such as `{contains: "#42"}`. */

import { isRecord } from '../config/values/is-record.ts'
import type { Path } from '../config/values/path.ts'
import { compileRegex, RegexLimitError, RegexSyntaxError } from '../regex/regex.ts'

/** A value that is not as expected. */
export interface ValueMismatch {
  /** The path in the test entry: `['expect', 'message', 'contains']`. */
  readonly path: Path
  /** Words that end a sentence: `"opened"`, `text that contains "#42"`. */
  readonly expected: string
  /** Words of the same kind; `nothing` where there is no value. */
  readonly actual: string
  /** For showing a difference of texts: the actual text, and the one that it should be or contain. */
  readonly texts?: { readonly actual: string; readonly wanted?: string; readonly part?: string }
  /** One sentence about the cause, or about what to do. */
  readonly hint?: string
}

type Test = (wanted: unknown, actual: unknown) => boolean

interface TestKind {
  readonly holds: Test
  readonly words: (wanted: unknown) => string
  readonly negated: (wanted: unknown) => string
}

/** Every test that an expectation may name, except `not`, which negates one of these. */
const tests: Readonly<Record<string, TestKind>> = Object.assign(Object.create(null), {
  equals: { holds: isEqual, words: writeValue, negated: (wanted) => `anything but ${writeValue(wanted)}` },
  contains: textTest('contains', 'does not contain', (text, wanted) => text.includes(wanted)),
  prefix: textTest('begins with', 'does not begin with', (text, wanted) => text.startsWith(wanted)),
  suffix: textTest('ends with', 'does not end with', (text, wanted) => text.endsWith(wanted)),
  pattern: textTest('matches the pattern', 'does not match the pattern', (text, wanted) =>
    compileRegex(wanted).test(text),
  ),
  exists: {
    holds: (wanted, actual) => (actual !== undefined) === wanted,
    words: (wanted) => (wanted === true ? 'a value' : 'no value'),
    negated: (wanted) => (wanted === true ? 'no value' : 'a value'),
  },
} satisfies Record<string, TestKind>)

/** Returns everything that is not as expected. An absent value is `undefined`, and `null` expects an absent one. */
export function checkValue(expected: unknown, actual: unknown, path: Path): ValueMismatch[] {
  if (Array.isArray(expected)) return checkList(expected, actual, path)
  if (isTests(expected)) {
    return Object.entries(expected).flatMap(([name, wanted]) =>
      name === 'not'
        ? checkNot(wanted, actual, [...path, name])
        : checkTest(name, wanted, actual, [...path, name]),
    )
  }
  if (isRecord(expected)) return checkFields(expected, actual, path)
  const expectedValue = expected ?? undefined
  if (isEqual(expectedValue, actual)) return []
  return [unequal(expectedValue, actual, path)]
}

function checkList(expected: readonly unknown[], actual: unknown, path: Path): ValueMismatch[] {
  if (!Array.isArray(actual) || actual.length !== expected.length) return [unequal(expected, actual, path)]
  return expected.flatMap((each, index) => checkValue(each, actual[index], [...path, index]))
}

/** Only the fields that are named are compared. */
function checkFields(
  expected: Readonly<Record<string, unknown>>,
  actual: unknown,
  path: Path,
): ValueMismatch[] {
  if (!isRecord(actual)) return [unequal(expected, actual, path)]
  return Object.entries(expected).flatMap(([name, each]) =>
    checkValue(each, Object.hasOwn(actual, name) ? actual[name] : undefined, [...path, name]),
  )
}

function checkTest(name: string, wanted: unknown, actual: unknown, path: Path): ValueMismatch[] {
  const kind = tests[name] as TestKind
  return listOf(wanted).flatMap((one, index): ValueMismatch[] => {
    const at = Array.isArray(wanted) ? [...path, index] : path
    const failed = attempt(() => kind.holds(one, actual), at)
    if (failed !== false) return failed === true ? [] : [failed]
    return [name === 'equals' ? unequal(one, actual, at) : unfit(kind.words(one), actual, at, one)]
  })
}

/** All values of a list must hold. */
function listOf(wanted: unknown): readonly unknown[] {
  return Array.isArray(wanted) ? wanted : [wanted]
}

/** A literal must not be equal; several tests must not all hold. */
function checkNot(wanted: unknown, actual: unknown, path: Path): ValueMismatch[] {
  const named = isTests(wanted) ? Object.entries(wanted) : [['equals', wanted] as const]
  const failed = named.some(([name, one]) => checkTest(name, one, actual, path).length > 0)
  if (failed || named.some(([name]) => name === 'not')) return []
  const expected = named.flatMap(([name, one]) =>
    listOf(one).map((each) => (tests[name] as TestKind).negated(each)),
  )
  return [unfit(expected.join(', or '), actual, path)]
}

function unequal(wanted: unknown, actual: unknown, path: Path): ValueMismatch {
  const texts = typeof actual === 'string' && typeof wanted === 'string' ? { actual, wanted } : undefined
  const hint = hintFor(wanted, actual)
  return { path, expected: writeValue(wanted), actual: writeValue(actual), texts, hint }
}

function unfit(expected: string, actual: unknown, path: Path, wanted?: unknown): ValueMismatch {
  const part = typeof wanted === 'string' ? { part: wanted } : undefined
  const texts = typeof actual === 'string' ? { actual, ...part } : undefined
  return { path, expected, actual: writeValue(actual), texts }
}

/** A pattern that cannot be read, or a text that is too long for it, is a mismatch of the test. */
function attempt(holds: () => boolean, path: Path): boolean | ValueMismatch {
  try {
    return holds()
  } catch (error) {
    if (error instanceof RegexSyntaxError)
      return { path, expected: 'a pattern that can be read', actual: 'none', hint: `${error.message}.` }
    if (error instanceof RegexLimitError)
      return {
        path,
        expected: 'a text that can be searched',
        actual: 'a longer one',
        hint: `${error.message}.`,
      }
    throw error
  }
}

function textTest(
  verb: string,
  negation: string,
  holds: (text: string, wanted: string) => boolean,
): TestKind {
  return {
    holds: (wanted, actual) => typeof actual === 'string' && holds(actual, String(wanted)),
    words: (wanted) => `text that ${verb} ${writeValue(wanted)}`,
    negated: (wanted) => `text that ${negation} ${writeValue(wanted)}`,
  }
}

/** As in patterns, an object whose keys are all names of tests is a test; any other object holds fields. */
function isTests(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false
  const names = Object.keys(value)
  return names.length > 0 && names.every((name) => name === 'not' || tests[name] !== undefined)
}

function isEqual(wanted: unknown, actual: unknown): boolean {
  return typeof wanted === 'object' && wanted !== null
    ? JSON.stringify(wanted) === JSON.stringify(actual)
    : wanted === actual
}

/** YAML changes values that look right: `to: 42` is a number, and `message: |` ends with a line break. */
function hintFor(wanted: unknown, actual: unknown): string | undefined {
  if (typeof wanted === 'string' && typeof actual === 'string') {
    if (wanted.trimEnd() !== actual.trimEnd()) return undefined
    return 'They differ in white space at the end alone; `|-` instead of `|` leaves the last line break out.'
  }
  if (String(wanted) !== String(actual)) return undefined
  if (typeof actual === 'string') return 'It is text: put the expected value in quotes.'
  return typeof wanted === 'string' ? 'It is no text: take the quotes off the expected value.' : undefined
}

/** Writes compact JSON, or `nothing` for an absent value. */
function writeValue(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}
