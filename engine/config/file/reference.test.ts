import assert from 'node:assert/strict'
import test from 'node:test'
import { LocatedError } from '../values/located-error.ts'
import { parseReferences } from './reference.ts'

test('a text is split into literals and references', () => {
  assert.deepEqual(parseReferences('a ${ONE} b ${TWO:-two words} ${file:/run/secret}$${THREE}'), [
    'a ',
    { kind: 'environment', name: 'ONE' },
    ' b ',
    { kind: 'environment', name: 'TWO', fallback: 'two words' },
    ' ',
    { kind: 'file', path: '/run/secret' },
    '${',
    'THREE}',
  ])
})

test('a default may be empty', () => {
  assert.deepEqual(parseReferences('${A:-}'), [{ kind: 'environment', name: 'A', fallback: '' }])
})

test('a dollar without a brace is a dollar', () => {
  assert.deepEqual(parseReferences('$5 and {x}'), ['$5 and {x}'])
})

for (const text of ['${', '${}', '${A', '${A-b}', '${1A}', '${A:-${B}}', '${file:}', '${a b}']) {
  test(`${text} is not a reference, and the error does not quote it`, () => {
    assert.throws(
      () => parseReferences(text),
      (error: Error) => error instanceof LocatedError && !error.message.includes(text),
    )
  })
}

test('references in the syntax of other tools are recognised with the name of their variable', () => {
  for (const text of [
    '$NAME',
    '$(NAME)',
    '%NAME%',
    '${{ secrets.NAME }}',
    '{{ env.NAME }}',
    'env:NAME',
    '$env:NAME',
    'process.env.NAME',
  ])
    assert.throws(() => parseReferences(text), { hint: 'Write ${NAME}.' }, text)
  for (const text of ['$5', '$name', 'a $NAME b', '%', '100%', '{{name}}', 'environment: x', '$'])
    assert.deepEqual(parseReferences(text), [text])
})
