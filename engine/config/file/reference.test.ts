import assert from 'node:assert/strict'
import test from 'node:test'
import { LocatedError } from '../values/located-error.ts'
import { parseReferences } from './reference.ts'

test('a text is split into literals and references', () => {
  const environment = (name: string, fallback?: string) => ({
    kind: 'environment',
    name,
    ...(fallback !== undefined && { fallback }),
  })
  for (const [text, ...parts] of [
    ['a ${ONE} b ${TWO:-two words} ', 'a ', environment('ONE'), ' b ', environment('TWO', 'two words'), ' '],
    ['${file:/run/secret}$${THREE}', { kind: 'file', path: '/run/secret' }, '${', 'THREE}'],
    ['${A:-}', environment('A', '')],
    ...['$5 and {x}', '$5', '$name', 'a $NAME b', '%', '100%', '{{name}}', 'environment: x', '$'].map(
      (each) => [each, each],
    ),
  ] as const)
    assert.deepEqual(parseReferences(String(text)), parts)
})

test('a text that is no reference is refused without being quoted, and syntax of other tools with what to write', () => {
  for (const text of ['${', '${}', '${A', '${A-b}', '${1A}', '${A:-${B}}', '${file:}', '${a b}'])
    assert.throws(
      () => parseReferences(text),
      (error: Error) => error instanceof LocatedError && !error.message.includes(text),
    )
  const foreign =
    '$NAME ¦ $(NAME) ¦ %NAME% ¦ ${{ secrets.NAME }} ¦ {{ env.NAME }} ¦ env:NAME ¦ $env:NAME ¦ process.env.NAME'
  for (const text of foreign.split(' ¦ '))
    assert.throws(() => parseReferences(text), { hint: 'Write ${NAME}.' }, text)
})
