/** Compiles the clauses of `match.headers`. Case counts in values and not in names; a header may come several times. */

import type { HeaderPattern } from '../../config/schema/mapping-schema.ts'
import type { Path } from '../../config/values/path.ts'
import type { Regex } from '../../regex/regex.ts'
import type { HookRequest } from '../../resolve/decision.ts'
import type { Equality } from '../../resolve/program.ts'
import type { Report } from '../report.ts'
import { compileSearch } from './body-test.ts'
import type { Clause } from './clause.ts'
import { warnOfForeignText } from './foreign-syntax.ts'
import { readPatternText, refusePattern } from './operators.ts'
import { absentWords, expectedOf, presentWords, wordsOfSearch, wordsOfValues } from './words.ts'

/** Returns undefined if something was reported. */
export function compileHeader(written: string, wanted: HeaderPattern, report: Report): Clause | undefined {
  const path = ['match', 'headers', written]
  const name = written.toLowerCase()
  if (name.includes('_')) warnOfUnderscores(name, path, report)
  if (typeof wanted === 'string') {
    warnOfForeignText(wanted, path, report)
    return ofValues(name, path, [wanted])
  }
  if (isTests(wanted)) return compileTests(name, path, wanted, report)
  for (const [index, each] of wanted.entries()) warnOfForeignText(each, [...path, index], report)
  if (wanted.length > 0) return ofValues(name, path, wanted)
  return refusePattern(path, 'must not be an empty list', 'List the texts that it may equal.', report)
}

/** Senders and proxies write dashes. A name with underscores is that of a CGI variable. */
function warnOfUnderscores(name: string, path: Path, report: Report): void {
  const hint = `Write \`${name.replace(/^http_/, '').replaceAll('_', '-')}\`.`
  report.warn({
    code: 'LITERAL_KEY',
    path,
    message: 'has an underscore, which names of headers do not have',
    hint,
  })
}

type Tests = Extract<HeaderPattern, { readonly exists?: boolean }>

function isTests(wanted: HeaderPattern): wanted is Tests {
  return typeof wanted === 'object' && !Array.isArray(wanted)
}

function ofValues(name: string, path: Path, values: readonly string[]): Clause {
  const wanted = new Set(values)
  const equality: Equality = { of: 'header', path: [name], values }
  const words = wordsOfValues(values)
  return {
    path,
    equalities: [equality],
    holds: ({ request }) => anyValue(headerOf(request, name), (value) => wanted.has(value)),
    miss: ({ request }) => {
      const actual = headerOf(request, name)
      return { path, ...expectedOf(words, values, actual), ...found(actual) }
    },
  }
}

function compileTests(name: string, path: Path, wanted: Tests, report: Report): Clause | undefined {
  const { exists, pattern } = wanted
  if (exists === undefined && pattern === undefined)
    return refusePattern(path, 'must not be empty', 'Write `{ exists: true }`, or a `pattern`.', report)
  if (exists === false && pattern !== undefined)
    return refusePattern(
      path,
      'asks a header that is absent for more, which never holds',
      'Keep one.',
      report,
    )
  if (pattern === undefined) return ofExistence(name, path, exists !== false)
  const regex = readPatternText(pattern, [...path, 'pattern'], report)
  return regex && ofSearch(name, path, regex)
}

function ofExistence(name: string, path: Path, wanted: boolean): Clause {
  return {
    path,
    equalities: [],
    holds: ({ request }) => (headerOf(request, name) !== undefined) === wanted,
    miss: ({ request }) => ({
      path,
      expected: wanted ? presentWords : absentWords,
      ...found(headerOf(request, name)),
    }),
  }
}

function ofSearch(name: string, path: Path, regex: Regex): Clause {
  const search = compileSearch(regex, `match.headers.${name}`)
  return {
    path,
    equalities: [],
    holds: ({ request, containment }) =>
      anyValue(headerOf(request, name), (value) => search(value, containment)),
    miss: ({ request }) => ({
      path,
      expected: wordsOfSearch(regex.source),
      ...found(headerOf(request, name)),
    }),
  }
}

type Header = HookRequest['headers'][string]

function headerOf({ headers }: HookRequest, name: string): Header {
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

function anyValue(given: Header, holds: (value: string) => boolean): boolean {
  if (given === undefined) return false
  return typeof given === 'string' ? holds(given) : given.some(holds)
}

function found(actual: Header): { readonly actual?: Header } {
  return actual === undefined ? {} : { actual }
}
