import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { createCertificate, rsa, snsMessage, topic } from '../families/sns-fixture.ts'
import { digest, now, requestOf as requestTo, type Sent } from '../signing-fixture.ts'
import { type SignedRequest, UnavailableError, type VerifyDependencies } from '../verifier.ts'
import { type Diagnosis, diagnose } from './diagnose.ts'
import { canary, rawKeyOf, type Sender, senders } from './sender-fixture.ts'
import type { OtherPolicy } from './variants.ts'

const all = Object.entries(senders) as [string, Sender][]
const certificate = createCertificate(rsa)
const requestOf = (body: string, headers: Sent['headers'], more: Sent = {}) =>
  requestTo({ body, headers, ...more })

interface Asked {
  readonly others?: readonly OtherPolicy[]
  readonly dependencies?: VerifyDependencies
}

/** Diagnoses, and asserts that the answer holds no secret, no header's value and nothing of the body. */
async function ask(request: SignedRequest, verify: VerifyPolicy, asked: Asked = {}): Promise<Diagnosis> {
  const { others = [], dependencies = { download: async () => certificate } } = asked
  const diagnosis = await diagnose(request, verify, others, dependencies)
  const message = JSON.stringify(diagnosis)
  const kept = [verify, ...others.map((each) => each.verify)].flatMap((each) => [
    ...[each.secret ?? []].flat(),
    ...[each.publicKey ?? []].flat(),
  ])
  const values = Object.values(request.headers).map(String)
  for (const secret of [...kept, ...values, canary]) {
    if (secret.trim().length > 5)
      assert.ok(!message.includes(JSON.stringify(secret.trim()).slice(1, -1)), message)
  }
  return diagnosis
}

const first = ({ findings }: Diagnosis) => findings[0]?.code
const saying = ({ findings }: Diagnosis) => findings[0]?.message ?? ''
const good = ({ sign, body, headers }: Sender) => requestOf(body, { ...headers, ...sign(body) })

const inForm = (payload: string) => new URLSearchParams({ payload }).toString()

/** Ways in which a body is rewritten, and the form that the diagnosis should name. */
const rewritten: readonly (readonly [string, (json: string) => string, RegExp])[] = [
  ['indented', (json) => JSON.stringify(JSON.parse(json), null, 2), /as compact JSON/],
  ['ended with a line break', (json) => `${json}\n`, /without the line break at its end/],
  ['given a byte order mark', (json) => `\ufeff${json}`, /without the byte order mark/],
  ['escaped', (json) => json.replaceAll('ë', '\\u00eb'), /characters in place of \\uXXXX/],
  ['written with escaped slashes', (json) => json.replaceAll('/', '\\/'), /with `\/` in place of/],
  ['put into a form', inForm, /unwrapped from the field `payload`/],
  ['encoded in base64', (json) => Buffer.from(json).toString('base64'), /decoded from base64/],
  ['encoded twice', (json) => Buffer.from(json).toString('latin1'), /encoded twice/],
]

for (const [name, sender] of all) {
  const { verify, body, headers, sign, signatureHeader, signsTime, signsFields } = sender
  const secret = String(verify.secret)

  test(`a request of ${name} is accepted, and its scheme and secret are reported`, async () => {
    const { taken, code, secret, secrets, findings } = await ask(good(sender), verify)
    assert.deepEqual([taken, code, secret, secrets, findings], [true, 'TAKEN', 1, 1, []])
  })

  test(`a missing signature header of ${name} is named, and a changed body stays unexplained`, async () => {
    const { [signatureHeader]: _, ...others } = { ...headers, ...sign(body) }
    const missing = await ask(requestOf(body, others), verify)
    const found = [missing.taken, missing.code, first(missing)]
    assert.deepEqual(found, [false, 'SIGNATURE_MISSING', 'HEADER_MISSING'])
    assert.ok(saying(missing).includes(`\`${signatureHeader}\``), saying(missing))
    const changed = await ask(requestOf(body.replace('a', 'b'), { ...headers, ...sign(body) }), verify)
    const listed = [changed.taken, changed.code, first(changed)]
    assert.deepEqual(listed, [false, 'SIGNATURE_MISMATCH', 'UNEXPLAINED'])
  })

  if (signsTime)
    test(`a wrong clock is reported for ${name} with its direction and the tolerance`, async () => {
      for (const [hours, side] of [
        [1, 'past'],
        [-1, 'future'],
      ] as const) {
        const diagnosis = await ask({ ...good(sender), now: now + hours * 3_600_000 }, verify)
        const { code, skewSeconds } = diagnosis
        assert.deepEqual([code, first(diagnosis), skewSeconds], ['TIMESTAMP_OUTSIDE', 'CLOCK', -hours * 3600])
        assert.match(saying(diagnosis), new RegExp(`60 min in the ${side}, where \\d+ (s|min) are allowed$`))
      }
    })

  if (verify.secret !== undefined)
    test(`an older secret of ${name}, and that of another endpoint, is reported as such`, async () => {
      const newer = 'whsec_bmV3ZXN0LXNlY3JldA=='
      const older = await ask(good(sender), { ...verify, secret: [newer, secret] })
      assert.deepEqual([older.taken, older.secret, first(older)], [true, 2, 'OLDER_SECRET'])
      const others = [{ place: 'endpoints.elsewhere.verify', verify: { provider: 'slack', secret } }]
      const elsewhere = await ask(good(sender), { ...verify, secret: newer }, { others })
      assert.equal(first(elsewhere), 'OTHER_ENDPOINT')
      assert.match(saying(elsewhere), /endpoints\.elsewhere\.verify/)
    })

  if (!signsFields)
    test(`the diagnosis says how the body of ${name} was rewritten on its way`, async () => {
      for (const [way, rewrite, message] of rewritten) {
        const diagnosis = await ask(requestOf(rewrite(body), sign(body)), verify)
        assert.deepEqual([diagnosis.taken, first(diagnosis)], [false, 'BODY_FORM'], way)
        assert.match(saying(diagnosis), message, way)
      }
    })
}

test('the form in which a body was signed is found, whichever program wrote it', async () => {
  const { verify, body, sign } = senders.github
  const value = JSON.parse(body)
  const writings: readonly (readonly [string, RegExp])[] = [
    [JSON.stringify(value, null, 2), /two-space indentation/],
    [`${body}\n`, /with a line break at its end/],
    [
      body.replaceAll('/', '\\/').replaceAll('ë', '\\u00eb'),
      /with `\\\/`, with \\uXXXX for what is not ASCII/,
    ],
    [body.replaceAll('&', '\\u0026'), /with \\uXXXX for `<`, `>` and `&`/],
    [inForm(body), /as a form, in its field `payload`/],
  ]
  for (const [signed, message] of writings) {
    const diagnosis = await ask(requestOf(body, sign(signed)), verify)
    assert.equal(first(diagnosis), 'BODY_FORM', String(message))
    assert.match(saying(diagnosis), message)
  }
})

test('a rewritten body is found although the clock is wrong too, and both are reported', async () => {
  const { verify, body, sign } = senders.stripe
  const request = requestOf(`${body}\n`, sign(body), { now: now + 7_200_000 })
  const { findings } = await ask(request, verify)
  const listed = findings.map(({ code }) => code)
  assert.deepEqual(listed, ['BODY_FORM', 'CLOCK'])
})

test('the SHA-1 signature of GitHub alone is reported as weaker', async () => {
  const { verify, body } = senders.github
  const weak = `sha1=${digest(body, verify.secret, 'sha1')}`
  const { code, findings } = await ask(requestOf(body, { 'x-hub-signature': weak }), verify)
  assert.deepEqual([code, findings[0]?.code], ['SIGNATURE_WEAKER', 'WEAKER_ONLY'])
  assert.match(findings[0]?.message ?? '', /`x-hub-signature` came, and `x-hub-signature-256` did not/)
})

test('for an address that differs from the one that Twilio signed, the difference is named', async () => {
  const { verify, body, headers, sign } = senders.twilio
  const signed = { ...headers, ...sign(body), host: 'hooks.example.com' }
  const request = requestOf(body, signed, { target: '/hooks/twilio' })
  for (const [publicUrl, message] of [
    ['http://hooks.example.com/hooks/twilio', /https in place of http/],
    ['https://hooks.example.com/hooks/twilio/', /without the slash at its end/],
    ['https://internal.example/hooks/twilio', /the host that the request names/],
    ['https://hooks.example.com/twilio', /the path that was asked for/],
    [undefined, /it fits the address that was called/],
  ] as const) {
    const diagnosis = await ask(request, { ...verify, publicUrl })
    assert.deepEqual([diagnosis.taken, first(diagnosis)], [false, 'URL'], publicUrl)
    assert.match(saying(diagnosis), message)
  }
  const withQuery = await ask({ ...request, target: '/hooks/twilio?added=by-a-proxy' }, verify)
  assert.match(withQuery.findings[0]?.message ?? '', /without the query that came/)
})

test('another public key is not explained by a secret', async () => {
  const { findings } = await ask(good(senders.discord), { provider: 'discord', publicKey: rawKeyOf() })
  assert.match(findings[0]?.message ?? '', /^wrong public key/)
})

const sns = { provider: 'aws-sns', topicArns: [topic] }
const snsHeaders = { 'x-amz-sns-message-type': 'Notification', 'content-type': 'text/plain; charset=UTF-8' }

test('a message of SNS is accepted; another topic, a changed message and a missing key are reported', async () => {
  const message = JSON.stringify(snsMessage({ Message: canary }))
  const request = requestOf(message, snsHeaders)
  assert.deepEqual((await ask(request, sns)).code, 'TAKEN')
  const topics = { ...sns, topicArns: ['arn:aws:sns:eu-central-1:123456789012:other'] }
  assert.equal((await ask(request, topics)).code, 'WRONG_TOPIC')
  const changed = requestOf(message.replace('a4d6fd4f', 'b4d6fd4f'), snsHeaders)
  const forged = await ask(changed, sns)
  assert.deepEqual([forged.code, first(forged)], ['SIGNATURE_MISMATCH', 'UNEXPLAINED'])
  assert.match(forged.findings[0]?.message ?? '', /changed on its way, or is forged/)
  const without = { download: () => Promise.reject(new UnavailableError('not now')) }
  assert.equal((await ask(request, sns, { dependencies: without })).code, 'KEYS_UNAVAILABLE')
  const base64 = requestOf(Buffer.from(message).toString('base64'), snsHeaders)
  assert.equal(first(await ask(base64, sns)), 'BODY_FORM')
})

test('a sender that the configuration describes itself is diagnosed like any other', async () => {
  const digested = { algorithm: 'sha256', encoding: 'hex', key: 'text' } as const
  const hmac = { ...digested, header: 'X-Own', signed: '{body}', timestampUnit: 's' } as const
  const verify = { provider: 'hmac', secret: senders.github.verify.secret, hmac }
  const { body, sign } = senders.github
  const value = sign(body)['x-hub-signature-256'].slice('sha256='.length)
  assert.equal((await ask(requestOf(body, { 'x-own': value }), verify)).code, 'TAKEN')
  const missing = await ask(requestOf(body, {}), verify)
  assert.match(missing.findings[0]?.message ?? '', /`x-own` is missing/)
  assert.equal(first(await ask(requestOf(`${body}\n`, { 'x-own': value }), verify)), 'BODY_FORM')
})

test('a megabyte is diagnosed in bounded time, even where it nests deeply or never ends', async () => {
  const { verify, sign } = senders.github
  const bodies = [
    '['.repeat(500_000) + ']'.repeat(500_000),
    JSON.stringify(Array.from({ length: 9_000 }, (_, index) => ({ index, name: 'Zoë/', text: canary }))),
    `{"a":"${'\\'.repeat(1_000_000)}`,
    `[${','.repeat(1_000_000)}]`,
    `payload=${'%7B'.repeat(330_000)}`,
  ]
  for (const body of bodies) {
    const startedAt = process.cpuUsage()
    const diagnosis = await ask(requestOf(body, sign('something else')), verify)
    const { user, system } = process.cpuUsage(startedAt)
    assert.equal(first(diagnosis), 'UNEXPLAINED')
    assert.ok((user + system) / 1000 < 5000, `${body.slice(0, 10)}: ${(user + system) / 1000} ms`)
  }
})
