import assert from 'node:assert/strict'
import test from 'node:test'
import * as TypeBox from 'typebox'
import { Type } from './type.ts'

const notes = { description: 'A key.', default: [] }

/** Writes one schema that uses everything that ours use. */
function write(word: typeof Type): TypeBox.TSchema {
  return word.Object(
    {
      flag: word.Boolean({ default: true }),
      count: word.Optional(word.Integer({ minimum: 1 })),
      name: word.Optional(word.String()),
      list: word.Array(word.Unsafe<'a' | 'b'>({ enum: ['a', 'b'] }), notes),
      nothing: word.Object({}),
      word: word.Enum(['a', 'b'], { description: 'Either.' }),
      one: word.Literal(true),
      more: word.Record(word.String(), word.Union([word.Number(), word.Null()])),
      anything: word.Unknown({ description: 'Whatever it is.' }),
      parts: word.Optional(
        word.Object({ one: word.Optional(word.Boolean()) }, { additionalProperties: false }),
      ),
    },
    notes,
  )
}

test('a schema equals the one that TypeBox makes', () => {
  assert.equal(JSON.stringify(write(Type)), JSON.stringify(write(TypeBox)))
})

test('a schema word does not change its arguments, and optional applies to one place only', () => {
  const name = Type.String()
  Type.Optional(name)
  assert.deepEqual(Type.Object({ name }).required, ['name'])
})
