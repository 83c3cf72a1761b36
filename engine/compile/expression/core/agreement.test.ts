import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAgreement } from './agreement.ts'

test('compiled expressions give what the library gives, for made-up expressions and payloads', async () => {
  const { compiled, failed } = await checkAgreement(17, 2_000)
  assert.ok(compiled > 2_000, `${compiled} were compiled`)
  assert.ok(failed > 200, `${failed} failed`)
})
