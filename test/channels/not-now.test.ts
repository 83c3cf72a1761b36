/** Tests that a vendor which answers 503 in its own words is tried again, since it has done nothing, and that after a 500 a message may have arrived. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VendorAnswer } from '@reveille/kit'
import { errorFrom as imessage } from '../../plugins/imessage/errors.ts'
import { errorFrom as slack } from '../../plugins/slack/errors.ts'
import { errorFrom as telegram } from '../../plugins/telegram/errors.ts'

const answer = (status: number, json: object): VendorAnswer => ({
  status,
  headers: new Headers(),
  text: JSON.stringify(json),
  json,
})

const vendors = {
  telegram: (status: number) =>
    telegram(answer(status, { ok: false, error_code: status, description: 'no' }), {
      redact: (text: string) => text,
      now: 0,
    }),
  slack: (status: number) =>
    slack(answer(status, { ok: false, error: 'internal_error' }), {
      delivers: true,
      botToken: 'xoxb-1',
      now: 0,
    }),
  imessage: (status: number) =>
    imessage(answer(status, { status, error: { type: 'Server Error', message: 'no' } }), {
      delivers: true,
      hidden: [],
      now: 0,
    }),
}

for (const [name, errorOf] of Object.entries(vendors)) {
  test(`${name}: 503 is tried again, and after 500 the message may have arrived`, () => {
    for (const [status, maybeDelivered] of [
      [503, false],
      [500, true],
    ] as const) {
      const error = errorOf(status)
      assert.deepEqual(
        [error.code, error.retryable, error.maybeDelivered],
        ['unavailable', true, maybeDelivered],
      )
    }
  })
}
