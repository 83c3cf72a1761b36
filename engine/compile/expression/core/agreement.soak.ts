import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAgreement } from './agreement-fixture.ts'

for (let seed = 1; seed <= 20; seed++) {
  test(`compiled expressions give the same results as the library, with seed ${seed}`, async () => {
    const { compiled } = await checkAgreement(seed, 10_000)
    assert.ok(compiled > 10_000, `${compiled} were compiled`)
  })
}
