/** Compares the indexed matcher with a naive interpretation of the same patterns, for random mappings and payloads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MappingSource } from '../../config/configuration.ts'
import type { HeaderPattern } from '../../config/schema/mapping-schema.ts'
import { createSearch } from '../../resolve/match/match.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import type { Program } from '../../resolve/model/program.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { createDecisionIndex, type Indexed } from './decision-index.ts'
import { programOf } from './fixture.ts'
import { headerPattern, objectOf, pattern, payload, text } from './random-fixture.ts'

type Match = NonNullable<MappingSource['match']>

// The naive interpretation has no tree, no index and no order.

function naiveMatch(match: Match, request: HookRequest): boolean {
  const { payload, headers } = request
  if (match.path !== undefined && naiveParams(match.path, request.endpoint) === undefined) return false
  if (match.source !== undefined && (!isObject(payload) || own(payload, 'source') !== match.source))
    return false
  for (const [name, wanted] of Object.entries(match.headers ?? {}))
    if (!naiveHeader(wanted, own(headers, name.toLowerCase()) as string | string[] | undefined)) return false
  return match.body === undefined || naiveKeys(match.body, payload)
}

function naiveParams(path: string, endpoint: string): Record<string, string> | undefined {
  const wanted = path.split('/')
  const given = endpoint.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] as string
    if (segment.startsWith(':') && value !== '') params[segment.slice(1)] = value
    else if (segment !== value) return undefined
  }
  return params
}

function naiveHeader(wanted: HeaderPattern, given: string | string[] | undefined): boolean {
  const values = given === undefined ? [] : [given].flat()
  if (typeof wanted === 'string') return values.includes(wanted)
  if (Array.isArray(wanted)) return wanted.some((each) => values.includes(each))
  const { exists, pattern } = wanted as { exists?: boolean; pattern?: string }
  if (exists !== undefined && exists !== values.length > 0) return false
  return pattern === undefined || values.some((value) => new RegExp(pattern).test(value))
}

function naiveKeys(pattern: object, value: unknown): boolean {
  return elementsOf(value).some((element) =>
    Object.keys(pattern).every((key) =>
      naivePattern(own(pattern, key), isObject(element) ? own(element, key) : undefined),
    ),
  )
}

function naivePattern(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((each) => naivePattern(each, value))
  if (!isObject(pattern)) return value !== undefined && elementsOf(value).includes(pattern)
  const operators = Object.entries(pattern)
  if (!operators.every(([name]) => Object.hasOwn(naiveOperators, name))) return naiveKeys(pattern, value)
  if (pattern.exists === false) return value === undefined
  if (value === undefined) return false
  if (operators.length === 1 && pattern.exists === true) return true
  return elementsOf(value).some((element) =>
    operators.every(([name, operand]) => naiveOperators[name]?.(operand as never, element)),
  )
}

const naiveOperators: Record<string, (operand: never, value: unknown) => boolean> = {
  exists: () => true,
  prefix: (text: string, value) => typeof value === 'string' && value.indexOf(text) === 0,
  suffix: (text: string, value) => typeof value === 'string' && value.slice(-text.length) === text,
  'anything-but': (refused: unknown, value) => ![refused].flat().includes(value),
  pattern: (source: string, value) => typeof value === 'string' && new RegExp(source).test(value),
  numeric: (bounds: (string | number)[], value) => {
    if (typeof value !== 'number') return false
    for (let at = 0; at < bounds.length; at += 2) {
      const bound = Number(bounds[at + 1])
      const holds = {
        '=': value === bound,
        '!=': value !== bound,
        '<': value < bound,
        '<=': value <= bound,
        '>': value > bound,
        '>=': value >= bound,
      }
      if (!holds[bounds[at] as '=']) return false
    }
    return true
  },
}

/** Returns the value itself, or for a list its elements and those of the lists in it. An absent field is one element. */
function elementsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function own(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

const match: fc.Arbitrary<Match> = fc.record(
  {
    path: fc.oneof(
      { weight: 3, arbitrary: fc.constant('p') },
      { weight: 1, arbitrary: fc.constantFrom('p/q', ':one', 'p/:one', ':one/q', ':one/:two', ':two/:one') },
    ),
    source: text,
    headers: fc.dictionary(fc.constantFrom('h1', 'H2'), headerPattern, { maxKeys: 2 }),
    body: objectOf(pattern).filter((body) => Object.keys(body).length > 0),
  },
  { requiredKeys: [] },
)
const request: fc.Arbitrary<HookRequest> = fc
  .record({
    endpoint: fc.constantFrom('p', 'p', 'p', 'p/q', 'r', 'r/q', 'r/s', 'r//', 'p/'),
    headers: fc.dictionary(
      fc.constantFrom('h1', 'h2'),
      fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 2 })),
      {
        maxKeys: 2,
      },
    ),
    payload: fc.oneof({ weight: 5, arbitrary: objectOf(payload) }, { weight: 1, arbitrary: payload }),
  })
  .map(({ payload, ...rest }) => requestOf(JSON.stringify(payload), rest))

/** Makes a payload that a pattern may be meant for, because random ones would hardly ever match. */
function exampleOf(pattern: unknown, choose: (count: number) => number): unknown {
  const example = exampleOfOne(pattern, choose)
  return choose(4) === 0 ? ['x', [example], {}] : example
}

function exampleOfOne(pattern: unknown, choose: (count: number) => number): unknown {
  if (Array.isArray(pattern)) return exampleOf(pattern[choose(pattern.length)], choose)
  if (!isObject(pattern)) return pattern
  if (!Object.keys(pattern).every((key) => Object.hasOwn(naiveOperators, key)))
    return exampleOfKeys(pattern, choose)
  if (pattern.exists === false) return undefined
  if (pattern.numeric !== undefined) return [1, 2, 0][choose(3)]
  return `${pattern.prefix ?? 'x'}${pattern.suffix ?? 'y'}`
}

function exampleOfKeys(pattern: object, choose: (count: number) => number): object {
  return Object.fromEntries(Object.keys(pattern).map((key) => [key, exampleOf(own(pattern, key), choose)]))
}

function requestFor(match: Match, base: HookRequest, numbers: readonly number[]): HookRequest {
  let at = 0
  const choose = (count: number) => (numbers[at++ % numbers.length] ?? 0) % count
  const { path, source, headers, body } = match
  const keys = exampleOfKeys(body ?? {}, choose)
  const payload = source === undefined || Object.hasOwn(keys, 'source') ? keys : { ...keys, source }
  const given = Object.entries(headers ?? {}).flatMap(([name, wanted]) => {
    const value = typeof wanted === 'object' && 'exists' in wanted ? 'xy' : [wanted].flat()[0]
    return value === 'xy' && choose(2) === 0 ? [] : [[name.toLowerCase(), value]]
  })
  return requestOf(JSON.stringify(payload), {
    endpoint: path?.replace(/:\w+/g, 'r') ?? base.endpoint,
    headers: Object.fromEntries(given),
  })
}

const numbers = fc.array(fc.nat(), { minLength: 20, maxLength: 20, size: 'max' })

async function indexedMatches(mappings: readonly Indexed[], request: HookRequest): Promise<unknown[]> {
  const search = createSearch(createDecisionIndex(mappings).candidates(request), createScope(request))
  const found: unknown[] = []
  for (let each = await search.next(); each.candidate !== undefined; each = await search.next())
    found.push([each.candidate.program.id, { ...each.scope.params }])
  return found
}

test('the indexed matcher and a naive interpretation of the patterns find the same mappings in the same order', async () => {
  let hits = 0
  const property = fc.asyncProperty(
    fc.array(match, { minLength: 10, maxLength: 60, size: 'max' }),
    fc.array(request, { minLength: 1, maxLength: 3, size: 'max' }),
    numbers,
    async (matches, given, numbers) => {
      const requests = given.flatMap((base, index) => {
        const meant = matches[(numbers[index] ?? 0) % matches.length]
        return meant === undefined ? [base] : [base, requestFor(meant, base, numbers)]
      })
      const mappings = matches.map((each, index) => ({
        path: each.path,
        program: programOf(String(index), each),
      }))
      for (const each of requests) {
        const wanted = matches.flatMap((one, index) =>
          naiveMatch(one, each)
            ? [[String(index), naiveParams(one.path ?? each.endpoint, each.endpoint)]]
            : [],
        )
        hits += wanted.length
        assert.deepEqual(await indexedMatches(mappings, each), wanted)
      }
    },
  )
  await fc.assert(property, { seed: 20260102, numRuns: 400 })
  assert.ok(hits > 1000, `the samples hit too seldom to say anything: ${hits}`)
})

test('a failing clause is found exactly if a mapping does not match', async () => {
  let hits = 0
  let misses = 0
  const property = fc.asyncProperty(
    match,
    request,
    fc.boolean(),
    numbers,
    async (one, base, isMeant, numbers) => {
      const each = isMeant ? requestFor(one, base, numbers) : base
      const { matcher }: Program = programOf('one', { ...one, path: undefined })
      const holds = matcher.matches(createScope(each))
      const clause = await matcher.explain(createScope(each))
      assert.equal(clause === undefined, holds)
      assert.equal(clause?.error, undefined)
      if (clause === undefined) hits += 1
      else misses += 1
    },
  )
  await fc.assert(property, { seed: 20260103, numRuns: 3000 })
  assert.ok(Math.min(hits, misses) > 500, `too few of one kind to say anything: ${hits} and ${misses}`)
})
