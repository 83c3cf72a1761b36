import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAgreement, compareWithLibrary } from './agreement-fixture.ts'

test('compiled expressions give the same results as the library, for random expressions and payloads', async () => {
  const { compiled, failed } = await checkAgreement(17, 1_000)
  assert.ok(compiled > 1_000, `${compiled} were compiled`)
  assert.ok(failed > 100, `${failed} failed`)
})

test('in a list at the beginning of a path, $ gives the same result as the library', async () => {
  for (const source of ['[$ / "", a].a', '[$, a].a', '[$[], a].b', '[{"a": $}].a', '[$string()].a'])
    for (const payload of [0, { a: 1 }, [1], [{ a: 1 }, { b: 2 }]])
      await compareWithLibrary(source, [payload])
})
