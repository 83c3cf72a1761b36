import assert from 'node:assert/strict'
import test from 'node:test'
import * as TypeBox from 'typebox'
import { Type } from './type.ts'

const notes = { description: 'A key.', default: [] }

/** Writes one schema that uses everything that ours use. */
function write(word: typeof Type): TypeBox.TSchema {
  const count = word.Integer({ minimum: 1 })
  const list = word.Array(word.Unsafe<'a' | 'b'>({ enum: ['a', 'b'] }), notes)
  const more = word.Record(word.String(), word.Union([word.Number(), word.Null()]))
  const parts = word.Object({ one: word.Optional(word.Boolean()) }, { additionalProperties: false })
  const kinds = { word: word.Enum(['a', 'b'], notes), one: word.Literal(true), anything: word.Unknown(notes) }
  const optional = { count: word.Optional(count), parts: word.Optional(parts) }
  return word.Object(
    {
      flag: word.Boolean({ default: true }),
      count,
      list,
      more,
      parts,
      ...kinds,
      optional: word.Object(optional),
    },
    notes,
  )
}

test('a schema equals the one that TypeBox makes, and optional applies to one place only', () =>
  assert.equal(JSON.stringify(write(Type)), JSON.stringify(write(TypeBox))))
