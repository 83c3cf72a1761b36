import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScope } from '../../resolve/scope.ts'
import { compileExpression } from '../expression.ts'
import { requestOf } from '../fixture.ts'

const expression = compileExpression('$exists(a)')

test('a payload that holds a mark of the library is left to the library, however the mark is written', async () => {
  assert.equal(expression.evaluate(createScope(requestOf('{"a": 1, "b": "\\u003c"}'))), true)
  for (const name of ['_jsonata_lambda', '\\u005fjsonata_function', 'tuple\\u0053tream', 'tupleStrea\\u006D'])
    await assertLeftToLibrary(createScope(requestOf(`{"a": 1, "b": {"${name}": true}}`)))
})

test('a mark in a form or in the query is left to the library', async () => {
  const payload = { a: '1', tupleStream: '1' }
  const rawBody = Buffer.from('a=1&tuple%53tream=1')
  await assertLeftToLibrary(createScope(requestOf({}, { payload, rawBody, isForm: true })))
  await assertLeftToLibrary(createScope(requestOf({ a: 1 }, { query: { tupleStream: '1' } })))
})

/** Only the library gives a promise. */
async function assertLeftToLibrary(scope: Parameters<typeof expression.evaluate>[0]): Promise<void> {
  const result = expression.evaluate(scope)
  assert.ok(result instanceof Promise)
  assert.equal(await result, true)
}
