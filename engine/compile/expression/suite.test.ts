/** Tests that an expression means what JSONata's documentation says, with a table of our own. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression } from './compile-expression.ts'
import { functionNames } from './functions.ts'

const lines = [
  { sku: 'lamp', price: 2, count: 2, tags: ['new'] },
  { sku: 'oil', price: 10, count: 1, tags: ['tall'] },
  { sku: 'lamp', price: 3, count: 1 },
]
const order = { id: 7, 'ship to': { town: 'Hull' }, lines }
const payload = { order, words: ['a', 'b', 'b'], text: 'fix the lamp', flag: true, gone: null }
const suite = readFileSync(new URL('suite.txt', import.meta.url), 'utf8')
const rows = [...suite.matchAll(/^(.+) ⇒ (.+)$/gm)]

for (const [, source = '', expected = ''] of rows)
  test(`${source} ⇒ ${expected}`, async () => {
    const scope = createScope(requestOf(payload))
    const evaluated = async () => compileExpression(source).evaluate(scope)
    if (/^[A-Z]\d{4}$/.test(expected)) await assert.rejects(evaluated, { code: expected })
    else assert.deepEqual(await evaluated(), expected === 'nothing' ? undefined : JSON.parse(expected))
  })

test('the table has every function, and every operator of the documentation', () => {
  const sources = rows.map(([, source]) => source)
  const functions = [...functionNames].map((name) => `$${name}(`)
  const operators =
    '. [ { ( @$ #$ % * ** ^( + - / & = != < <= > >= in and or ? ?: ?? := ~> | .. ; [] `'.split(' ')
  const missing = [...functions, ...operators].filter(
    (each) => !sources.some((source) => source?.includes(each)),
  )
  assert.deepEqual(missing, [])
})
