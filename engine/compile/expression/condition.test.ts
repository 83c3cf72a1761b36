import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import jsonata from 'jsonata'
import type { Equality } from '../../resolve/model/program.ts'
import { compileExpression } from './compile-expression.ts'
import { equalitiesOfCondition } from './condition.ts'
import { parseExpression } from './parse.ts'

function equalitiesOf(source: string): readonly string[] {
  return compileExpression(source).equalities.map(
    ({ of, path, values }) => `${of} ${path.join('.')}: ${JSON.stringify(values)}`,
  )
}

/** Pairs conditions with the equalities that a request must satisfy for them to be true. */
const conditions: readonly (readonly [string, readonly string[]])[] = [
  ['action = "opened"', ['body action: ["opened"]']],
  ['"opened" = payload.action', ['body action: ["opened"]']],
  ['action in ["opened", "closed"]', ['body action: ["opened","closed"]']],
  ['"bug" in labels.name', ['body labels.name: ["bug"]']],
  ['a = 1 and (b = true and $$.c = null)', ['body a: [1]', 'body b: [true]', 'body c: [null]']],
  ['headers.`x-kind` = "push" and a != 1 and b = 2', ['header x-kind: ["push"]', 'body b: [2]']],
  ['a = 1 and $number(b) > 2 and c = 3', ['body a: [1]']],
  ['$number(b) > 2 and c = 3', []],
  ['a = 1 or b = 2', []],
  ['a != 1', []],
  ['a = b', []],
  ['a = ["x"]', []],
  ['a = []', []],
  ['a[0] = "x"', []],
  ['a[] = "x"', []],
  ['a.$string(b) = "x"', []],
  ['query.a = "x"', []],
  ['id = "9007199254740993"', []],
  ['a = 1 ? true : false', []],
]

for (const [source, expected] of conditions) {
  test(`the equalities of ${source} are those that are necessary for it to be true`, () => {
    assert.deepEqual(equalitiesOf(source), expected)
  })
}

const literals = fc.constantFrom('"x"', '1', 'true', 'null')
const paths = fc.constantFrom('a', 'b', 'a.b', '$.a', 'a.b.a')
const clauses = fc.oneof(
  fc.tuple(paths, fc.constantFrom('=', '!='), literals).map((parts) => parts.join(' ')),
  fc.tuple(literals, fc.constantFrom('=', 'in'), paths).map((parts) => parts.join(' ')),
  fc.tuple(paths, literals, literals).map(([path, one, other]) => `${path} in [${one}, ${other}]`),
  paths.map((path) => `$exists(${path})`),
)
const madeUp = fc.array(clauses, { minLength: 1, maxLength: 3 }).map((all) => all.join(' and '))

const { value: values } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>('x', 1, true, null),
    tie('object'),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
  object: fc.record({ a: tie('value'), b: tie('value') }),
}))

test('a random condition is never true for a payload that lacks one of its equalities', async () => {
  let trueOnes = 0
  const payloads = fc.array(fc.record({ a: values, b: values }), { minLength: 5, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(madeUp, payloads, async (source, all) => {
      const expression = jsonata(source)
      const equalities = equalitiesOfCondition(parseExpression(source, 0).ast)
      for (const payload of equalities.length > 0 ? all : []) {
        if ((await expression.evaluate(payload)) !== true) continue
        trueOnes += 1
        for (const { path, values: wanted } of equalities)
          assert.ok(
            scalarsAt(path, payload).some((value) => wanted.includes(value)),
            `${source} of ${JSON.stringify(payload)}`,
          )
      }
    }),
    { seed: 5, numRuns: 1_500 },
  )
  assert.ok(trueOnes > 100, `${trueOnes} were true`)
})

/** Returns the scalars at a path, through all lists on the way. */
function scalarsAt(path: readonly string[], value: unknown): Equality['values'] {
  if (Array.isArray(value)) return value.flatMap((element) => scalarsAt(path, element))
  const [name, ...others] = path
  if (name === undefined) return typeof value === 'object' && value !== null ? [] : [value as string]
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
  return scalarsAt(others, (value as Readonly<Record<string, unknown>>)[name])
}
