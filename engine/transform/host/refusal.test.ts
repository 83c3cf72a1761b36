import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse, refusedStatus } from '../define.ts'
import { createServing, failureOf, shownPlace } from './fixture.ts'

test("a transform refuses with a status and a line for its sender, and the author's line is reported", async (t) => {
  const { call } = await createServing(t, {
    'refuses.ts': `
      import { refuse } from '@reveille/engine/transform'
      export default ({ payload }: any) => {
        if (!payload.order) throw refuse(422, 'no order\\nid')
        refuse(payload.status, 'this')
      }`,
  })
  const refused = await failureOf(call('refuses.ts', { payload: {} }))
  assert.equal(refused.code, 'TRANSFORM_REFUSED')
  assert.deepEqual(refused.refusal, { status: 422, message: 'no order id' })
  assert.equal(refused.message, 'refuses.ts refused the request with 422: no order id')
  assert.match(shownPlace(refused) ?? '', /^refuses\.ts:4:/)
  for (const status of [401, 407, 408, 429, 399, 500, 404.5, '404']) {
    const failed = await failureOf(call('refuses.ts', { payload: { order: 1, status } }))
    assert.equal(failed.code, 'TRANSFORM_FAILED', String(status))
    assert.match(failed.message, /refuse takes a status from 400 to 499 but 401, 407, 408 and 429, not /)
  }
})

test('the error that refuse throws is recognised by its mark, also in unit tests', () => {
  assert.throws(
    () => refuse(404, 'gone'),
    (error: unknown) => refusedStatus(error) === 404 && /^Refusal: gone$/.test(String(error)),
  )
  assert.equal(refusedStatus(new Error('gone')), undefined)
})
