/** Compares compiled expressions with the library's evaluation of them, for tests. */

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import jsonata from 'jsonata'
import { compileRegex } from '../../../regex/regex.ts'
import { createScope, type Scope } from '../../../resolve/scope.ts'
import { requestOf } from '../../fixture.ts'
import { makePlain } from '../plain.ts'
import { visitNodes } from '../syntax-tree.ts'
import { compileCore, runCore } from './compile-core.ts'
import { BeyondCoreError } from './values.ts'

/** The outcome of an evaluation: a value, or the code of an error. */
type Outcome = { readonly value: unknown } | { readonly code: string | undefined } | 'left to the library'

type Bindings = Readonly<Record<string, unknown>>

/** Compares nothing, and returns no outcomes, if the expression is not compiled. */
export async function compareWithLibrary(
  source: string,
  payloads: readonly unknown[],
  bindings: Bindings = {},
): Promise<readonly Outcome[]> {
  const expression = readExpression(source)
  if (expression === undefined) return []
  const readers = new Map(Object.entries(bindings).map(([name, value]) => [name, () => value]))
  const core = compileCore(withOurRegexes(source), (name) => readers.get(name))
  if (core === undefined) return []
  const outcomes: Outcome[] = []
  for (const payload of payloads) {
    const isMarked = /_jsonata_|tupleStream/.test(JSON.stringify([payload, bindings]))
    const compiled: Outcome = isMarked
      ? 'left to the library'
      : outcomeOfCore(() => runCore(core, payload, scope))
    outcomes.push(compiled)
    if (compiled === 'left to the library') continue
    const expected = await outcomeOfLibrary(expression.evaluate(payload, { ...bindings }))
    if (!isDeepStrictEqual(compiled, expected))
      assert.deepEqual({ source, payload, compiled }, { source, payload, compiled: expected })
  }
  return outcomes
}

const scope: Scope = createScope(requestOf({}))

function readExpression(source: string): jsonata.Expression | undefined {
  try {
    return jsonata(source)
  } catch {
    return undefined
  }
}

/** Reads the tree again, because the library needs JavaScript's own regular expressions in its tree. */
function withOurRegexes(source: string): unknown {
  const ast = jsonata(source).ast()
  visitNodes(ast, (node) => {
    const { value } = node
    if (value instanceof RegExp) Object.assign(node, { value: compileRegex(value.source, value) })
  })
  return ast
}

function outcomeOfCore(run: () => unknown): Outcome {
  try {
    return { value: makePlain(run()) }
  } catch (error) {
    if (error instanceof BeyondCoreError) return 'left to the library'
    return codeOf(error)
  }
}

async function outcomeOfLibrary(result: Promise<unknown>): Promise<Outcome> {
  try {
    return { value: makePlain(await result) }
  } catch (error) {
    return codeOf(error)
  }
}

/** @throws any error that is not an error of JSONata */
function codeOf(error: unknown): { readonly code: string } {
  const { code } = error as { readonly code?: unknown }
  if (typeof code !== 'string') throw error
  return { code }
}

const names = ['a', 'b', 'c', 'list']
const texts = ['', 'x', 'Open', 'ab x', ' 12 ', '12', '0x1f', '1e400', 'a/b/c', 'ß😀é']

/** The marks that the library recognises in a payload. */
const marks = ['_jsonata_lambda', '_jsonata_function', 'tupleStream', 'outerWrapper', 'sequence', 'cons']
const fieldNames = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom(...marks) },
)

/** JSON with the same few names on every level. */
const { payload: payloads } = fc.letrec<{ payload: unknown; scalar: unknown }>((tie) => ({
  scalar: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<unknown>(...texts) },
    { weight: 3, arbitrary: fc.constantFrom<unknown>(0, 1, -1, 2, 1.5, 0.1 + 0.2, 1e21, 12) },
    { weight: 2, arbitrary: fc.constantFrom<unknown>(true, false, null) },
    { weight: 1, arbitrary: fc.constant<unknown>(JSON.parse('1e400')) },
  ),
  payload: fc.oneof(
    { depthSize: 'medium' },
    tie('scalar'),
    fc.dictionary(fieldNames, tie('payload'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(tie('payload'), { maxLength: 4 }),
    fc.array(fc.dictionary(fieldNames, tie('payload'), { maxKeys: 3, noNullPrototype: true }), {
      maxLength: 4,
    }),
  ),
}))

const unary = [
  'exists',
  'string',
  'number',
  'lowercase',
  'uppercase',
  'count',
  'not',
  'boolean',
  'type',
  'length',
  'trim',
  'sum',
  'max',
  'min',
  'floor',
  'ceil',
  'abs',
  'round',
  'join',
]
const operators = ['=', '!=', '<', '<=', '>', '>=', 'in', '&', 'and', 'or', '+', '-', '*', '/', '%']

/** Expressions, most of which can be compiled. */
const { expression: expressions } = fc.letrec<
  Record<'expression' | 'literal' | 'path' | 'step' | 'call' | 'filter', string>
>((tie) => ({
  literal: fc.oneof(
    fc.constantFrom(...texts).map((text) => JSON.stringify(text)),
    fc.constantFrom('0', '1', '-1', '1.5', '12', 'true', 'false', 'null'),
    fc.constantFrom('[]', '["x", "Open"]', '[1, 2, 1..3]', '[[1], "x"]'),
  ),
  filter: fc.oneof(
    fc.constantFrom('[0]', '[1]', '[-1]', '[[0..1]]', '[[-1, 0]]', '[]'),
    tie('expression').map((inner) => `[${inner}]`),
  ),
  step: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.constantFrom('$', '"a"', '$lowercase()', '$string()', '$count(list)') },
    { weight: 1, arbitrary: tie('expression').map((inner) => `(${inner})`) },
    { weight: 1, arbitrary: tie('expression').map((inner) => `[${inner}]`) },
  ),
  path: fc
    .tuple(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...names) },
        { weight: 1, arbitrary: fc.constantFrom('$', '$$', '$bound', '$none', '$others') },
        { weight: 1, arbitrary: tie('expression').map((inner) => `(${inner})`) },
        { weight: 1, arbitrary: tie('expression').map((inner) => `[${inner}, a]`) },
      ),
      fc.array(
        fc.tuple(tie('step'), fc.option(tie('filter'), { nil: '', freq: 4 })).map((parts) => parts.join('')),
        { maxLength: 3 },
      ),
      fc.option(tie('filter'), { nil: '', freq: 4 }),
    )
    .map(([first, steps, filter]) => [first, ...steps].join('.') + filter),
  call: fc.oneof(
    fc.tuple(fc.constantFrom(...unary), tie('expression')).map(([name, inner]) => `$${name}(${inner})`),
    fc
      .constantFrom('lowercase', 'string', 'length', 'number', 'count', 'exists', 'not', 'type')
      .map((name) => `$${name}()`),
    fc
      .tuple(
        fc.constantFrom('contains', 'substringBefore', 'substringAfter', 'split', 'join'),
        tie('expression'),
        fc.constantFrom('x', '', '/', 'a'),
      )
      .map(([name, inner, text]) => `$${name}(${inner}, "${text}")`),
    fc
      .tuple(tie('expression'), fc.constantFrom('/x/', '/^o.*n$/i', '/[0-9]+/'))
      .map(([inner, regex]) => `$contains(${inner}, ${regex})`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('-2', '0', '1', 'b'),
        fc.constantFrom('', ', 2', ', -1', ', a'),
      )
      .map(([inner, start, size]) => `$substring(${inner}, ${start}${size})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('x', '', 'a'), fc.constantFrom('', ', 1', ', -1', ', b'))
      .map(([inner, text, limit]) => `$replace(${inner}, "${text}", "$0"${limit})`),
  ),
  expression: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    tie('path'),
    tie('literal'),
    tie('path'),
    tie('call'),
    fc
      .tuple(tie('expression'), fc.constantFrom(...operators), tie('expression'))
      .map((parts) => `(${parts.join(' ')})`),
    fc.tuple(tie('path'), fc.constantFrom(...operators), tie('literal')).map((parts) => parts.join(' ')),
    fc
      .tuple(tie('expression'), tie('expression'), fc.option(tie('expression')))
      .map(([condition, then, other]) =>
        other === null ? `(${condition} ? ${then})` : `(${condition} ? ${then} : ${other})`,
      ),
    fc.tuple(tie('path'), tie('literal')).map(([path, other]) => `(${path} ?? ${other})`),
    tie('expression').map((inner) => `[${inner}, "x"]`),
  ),
}))

export interface Agreement {
  readonly compiled: number
  readonly failed: number
  readonly leftToLibrary: number
}

/**
 * Compares this many expressions for four payloads each, and counts the pairs that were compiled. An error names the
 * seed.
 */
export async function checkAgreement(seed: number, count: number): Promise<Agreement> {
  let compiled = 0
  let failed = 0
  let leftToLibrary = 0
  await fc.assert(
    fc.asyncProperty(expressions, fc.array(payloads, { minLength: 4, maxLength: 4 }), async (source, all) => {
      const bindings = { bound: all[0], others: all.slice(1) }
      for (const outcome of await compareWithLibrary(source, all, bindings)) {
        compiled += 1
        if (outcome === 'left to the library') leftToLibrary += 1
        else if ('code' in outcome) failed += 1
      }
    }),
    { seed, numRuns: count },
  )
  return { compiled, failed, leftToLibrary }
}
