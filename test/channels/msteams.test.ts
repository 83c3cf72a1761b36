import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBed } from '@reveille/kit/fake-server'
import { createTeamsChannel, type TeamsConfig } from '../../plugins/msteams/channel.ts'
import { openVendor } from '../../plugins/msteams/fake-server/index.ts'

const minute = 60_000

/** Starts a fake Teams with a test clock, which the channel uses too. */
async function open(change: Partial<TeamsConfig> = {}, fetch = globalThis.fetch, tokenLife = 3600) {
  let at = Date.UTC(2026, 10, 21)
  const now = () => at
  const vendor = await openVendor({ now, tokenLife })
  const config = { ...(vendor.config as unknown as TeamsConfig), ...change }
  const pass = (ms: number) => {
    at += ms
  }
  return { ...openBed(vendor, createTeamsChannel({ config, fetch, now })), pass }
}

test('a token is used until five minutes before it expires, and then another one', async () => {
  await using used = await open()
  const { vendor, send, pass } = used
  await send()
  pass(54 * minute)
  await send()
  assert.equal(vendor.tokensIssued(), 1)
  pass(2 * minute)
  await send()
  assert.equal(vendor.tokensIssued(), 2)
  assert.equal(vendor.messages.length, 3)
})

test('a token that is refused before its end is renewed once, and the message arrives once', async () => {
  await using used = await open()
  const { vendor, send } = used
  await send('One')
  vendor.revokeTokens()
  await send('Two')
  assert.deepEqual(
    vendor.messages.map(({ text }) => text),
    ['One', 'Two'],
  )
  assert.equal(vendor.tokensIssued(), 2)
})

test('a second refusal is not answered with a third token', async () => {
  await using used = await open()
  const { vendor, send } = used
  vendor.always({ kind: 'answer', answer: vendor.refusals.badCredential })
  await assert.rejects(send(), { code: 'bad-credential', retryable: true, wholeService: true })
  assert.equal(vendor.tokensIssued(), 2)
  vendor.always(undefined)
  await send()
  assert.equal(vendor.messages.length, 1, 'and the next send requests a new one')
})

test('simultaneous sends request one token, also after it was revoked', async () => {
  await using used = await open()
  const { vendor, send } = used
  const all = () => Promise.all(Array.from({ length: 20 }, (_, index) => send(`Message ${index}`)))
  await all()
  assert.equal(vendor.tokensIssued(), 1)
  vendor.revokeTokens()
  await all()
  assert.equal(vendor.tokensIssued(), 2)
  assert.equal(vendor.messages.length, 40)
})

test('an aborted send leaves others waiting for the token, and the last one to abort ends the request', async () => {
  const asked = Promise.withResolvers<AbortSignal>()
  const answers = Promise.withResolvers<void>()
  let count = 0
  /** Holds the first request for a token until the test releases it. */
  const slow: typeof fetch = async (url, init) => {
    if (!String(url).endsWith('/token') || ++count > 1) return fetch(url, init)
    asked.resolve(init?.signal as AbortSignal)
    await answers.promise
    return fetch(url, init)
  }
  await using used = await open({}, slow)
  const { vendor, channel, send } = used
  const [first, second] = [new AbortController(), new AbortController()]
  const target = channel.target(vendor.to)
  const sends = [first, second].map(({ signal }) =>
    channel.send({ text: 'Hello' }, { target, key: 'd:1', signal }),
  )
  const settled = Promise.allSettled(sends)
  const signal = await asked.promise
  first.abort(new DOMException('The deadline is over.', 'TimeoutError'))
  await assert.rejects(sends[0] as Promise<unknown>, {
    code: 'timeout',
    retryable: true,
    maybeDelivered: false,
  })
  assert.equal(signal.aborted, false)
  second.abort()
  await assert.rejects(sends[1] as Promise<unknown>, { code: 'aborted', maybeDelivered: false })
  assert.equal(signal.aborted, true)
  answers.resolve()
  await settled
  await send('Later')
  assert.equal(vendor.messages.length, 1, 'a later send asks again')
})

test('the secret is sent only to the authority, and the token only to the service', async () => {
  await using used = await open()
  const { vendor, send } = used
  await send('Hello', vendor.userTo)
  const { authority, connector } = vendor.asked
  const { appPassword } = vendor.config
  assert.equal(authority.length, 1)
  assert.equal(new URLSearchParams(authority[0]?.text).get('client_secret'), appPassword)
  assert.equal(authority[0]?.headers['authorization'], undefined)
  assert.equal(connector.length, 2)
  assert.ok(!JSON.stringify(connector).includes(String(appPassword)))
  assert.ok(connector.every(({ headers }) => headers['authorization'] === 'Bearer msteams-fake-token-1'))
})

test('a refusal of Entra is reported with its own number and the fix', async () => {
  for (const [change, words] of [
    [{ appPassword: 'another' }, /invalid_client, AADSTS7000215\): `appPassword` is wrong/],
    [{ appId: 'nobody' }, /unauthorized_client, AADSTS700016\): `appId` is unknown in that tenant/],
    [{ tenantId: 'nowhere.example' }, /AADSTS90002\): there is no such tenant/],
  ] as const) {
    await using used = await open(change)
    await assert.rejects(used.send(), {
      code: 'bad-credential',
      retryable: true,
      wholeService: true,
      message: words,
    })
    assert.equal(used.vendor.asked.connector.length, 0, 'the service is not asked')
  }
})

test('an authority that fails, or is not one, has delivered nothing and holds the whole channel back', async () => {
  for (const [status, body, code] of [
    [503, '<html>Service Unavailable</html>', 'unavailable'],
    [429, '', 'rate-limited'],
    [404, '<html>Not here</html>', 'unavailable'],
    [200, '<html>Log in</html>', 'unavailable'],
  ] as const) {
    const answer: typeof fetch = async () => new Response(body, { status })
    await using used = await open({}, answer)
    await assert.rejects(used.send(), { code, retryable: true, maybeDelivered: false, wholeService: true })
  }
})

test('a short-lived token is used for half of its life', async () => {
  await using used = await open({}, fetch, 60)
  const { vendor, send, pass } = used
  for (const seconds of [0, 29, 2]) {
    pass(seconds * 1000)
    await send()
  }
  assert.equal(vendor.tokensIssued(), 2)
})
