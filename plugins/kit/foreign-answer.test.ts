import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignAnswer } from './foreign-answer.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

function meaningOf(status: number, headers: Record<string, string> = {}, delivers = true) {
  const answer = { status, headers: new Headers(headers), text: '<html>', json: undefined }
  return foreignAnswer(answer, { vendor: 'the API of Post', delivers, now })
}

test('a refusing page has delivered nothing, and affects the whole channel if it refuses the way itself', () => {
  for (const status of [302, 400, 401, 403, 404, 405, 407, 451]) {
    const { code, retryable, maybeDelivered, wholeService, message } = meaningOf(status)
    assert.deepEqual(
      { code, retryable, maybeDelivered, wholeService },
      {
        code: 'unavailable',
        retryable: true,
        maybeDelivered: false,
        wholeService: [401, 404, 405, 407].includes(status),
      },
    )
    assert.match(
      message,
      new RegExp(`^What answers at \`baseUrl\` is not the API of Post \\(${status}\\): fix `),
    )
  }
})

test("a gateway's error page may hide a delivered message, unless it says that nothing was reached", () => {
  for (const status of [200, 204, 500, 504, 520, 524]) assert.ok(meaningOf(status).maybeDelivered)
  for (const status of [502, 503, 521, 522, 523, 525, 526, 530]) assert.ok(!meaningOf(status).maybeDelivered)
  assert.ok(!meaningOf(504, {}, false).maybeDelivered, 'what sends nothing delivers nothing')
  assert.equal(meaningOf(503, { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }).retryAfter, 60)
})

test('a rate limit of a proxy affects the whole channel, and a length limit is final', () => {
  const { code, retryAfter, wholeService } = meaningOf(429, { 'retry-after': '30' })
  assert.deepEqual([code, retryAfter, wholeService], ['rate-limited', 30, true])
  assert.deepEqual([meaningOf(413).code, meaningOf(413).retryable], ['too-long', false])
})
