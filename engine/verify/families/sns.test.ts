import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { type Headers, UnavailableError, type VerifyDependencies, type VerifyResult } from '../verifier.ts'
import { createCertificate, type KeyPair } from './certificate-fixture.ts'
import { createSnsVerifier } from './sns.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const certificate = createCertificate(rsa)
const address = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem'
const topic = 'arn:aws:sns:eu-central-1:123456789012:alerts'
const policy: VerifyPolicy = { topicArns: [topic] }
const now = Date.UTC(2026, 0, 15, 12)

type Fields = Readonly<Record<string, unknown>>

const notification: Fields = {
  Type: 'Notification',
  MessageId: 'a4d6fd4f-2184-491b-afe3-2ad935e57c0e',
  TopicArn: topic,
  Subject: 'Grüße',
  Message: '{"alarm":"on"}\nsecond line',
  Timestamp: '2026-01-15T11:59:59.123Z',
  SignatureVersion: '2',
  SigningCertURL: address,
}

/** Signs field by field, as the guide describes. */
function signFields(fields: Fields, { privateKey }: KeyPair = rsa): Fields {
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const signed = names
    .filter((name) => typeof fields[name] === 'string')
    .map((name) => `${name}\n${fields[name]}\n`)
    .join('')
  const hash = fields['SignatureVersion'] === '1' ? 'sha1' : 'sha256'
  return { ...fields, Signature: sign(hash, Buffer.from(signed), privateKey).toString('base64') }
}

interface Host extends VerifyDependencies {
  readonly asked: string[]
}

function createHost(answer: (url: string) => string): Host {
  const asked: string[] = []
  return {
    asked,
    async download(url) {
      asked.push(url)
      return answer(url)
    },
  }
}

async function verify(
  fields: Fields | string,
  by: { policy?: VerifyPolicy; host?: VerifyDependencies; headers?: Headers; now?: number } = {},
): Promise<VerifyResult> {
  const type = typeof fields === 'string' ? 'Notification' : String(fields['Type'])
  const request = {
    method: 'POST',
    target: '/hooks/sns',
    headers: { 'x-amz-sns-message-type': type, ...by.headers },
    rawBody: Buffer.from(typeof fields === 'string' ? fields : JSON.stringify(fields)),
    now: by.now ?? now,
  }
  const verifier = createSnsVerifier({ family: 'sns' }, by.policy ?? policy)
  assert.equal(verifier?.isPresent(request.headers), true)
  return verifier.verify(request, by.host ?? createHost(() => certificate))
}

async function codeOf(...args: Parameters<typeof verify>): Promise<string> {
  const result = await verify(...args)
  return result.ok ? 'ok' : result.code
}

test('a notification is accepted, with a subject and without', async () => {
  assert.deepEqual(await verify(signFields(notification)), { ok: true, scheme: 'default', secret: 0 })
  const { Subject, ...bare } = notification
  assert.equal(await codeOf(signFields(bare)), 'ok')
  assert.equal(await codeOf(signFields({ ...bare, Subject: null })), 'ok')
  assert.equal(await codeOf({ ...signFields(bare), Subject }), 'SIGNATURE_MISMATCH')
  assert.equal(await codeOf({ ...signFields(bare), Subject: { a: 1 } }), 'BODY_MALFORMED')
})

test('a confirmation is signed with its token and its address', async () => {
  const subscription = {
    ...notification,
    Type: 'SubscriptionConfirmation',
    Subject: undefined,
    Token: 'abc',
    SubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription',
  }
  const signed = signFields(subscription)
  assert.equal(await codeOf(signed), 'ok')
  assert.equal(await codeOf({ ...signed, SubscribeURL: 'https://evil.example/' }), 'SIGNATURE_MISMATCH')
  assert.equal(await codeOf(signFields({ ...subscription, SubscribeURL: undefined })), 'BODY_MALFORMED')
})

test('a topic that is not configured is refused before anything is downloaded', async () => {
  const host = createHost(() => certificate)
  const other = signFields({ ...notification, TopicArn: 'arn:aws:sns:eu-central-1:999999999999:attacker' })
  assert.equal(await codeOf(other, { host }), 'WRONG_TOPIC')
  assert.deepEqual(host.asked, [])
})

test('without a configured topic nothing can be verified', () => {
  for (const topicArns of [undefined, [], ['']])
    assert.equal(createSnsVerifier({ family: 'sns' }, { topicArns }), undefined)
})

test('certificates are downloaded from SNS only, however the address is written', async () => {
  const host = createHost(() => certificate)
  const hosts = [
    'sns.eu-central-1.amazonaws.com.evil.example',
    'evil.example/sns.eu-central-1.amazonaws.com',
    'sns.eu-central-1.amazonaws.com@evil.example',
    'user:password@sns.eu-central-1.amazonaws.com',
    'sns.eu-central-1.amazonaws.com:443',
    'sns.eu-central-1.amazonaws.com:8443',
    'sns.eu-central-1.amazonaws.com\\@evil.example',
    'SNS.eu-central-1.amazonaws.com',
    'sns.amazonaws.com',
    's3.eu-central-1.amazonaws.com',
    'sns.eu-central-1.amazonaws.com.',
    'sns.a.b.amazonaws.com',
    // These are buckets of S3 with the name `sns`, which anybody can create.
    'sns.s3.amazonaws.com',
    'sns.s3-us-west-2.amazonaws.com',
    'sns.s3-accelerate.amazonaws.com',
    'sns.s3-fips-us-gov-west-1.amazonaws.com',
  ]
  const addresses = [
    ...hosts.map((name) => `https://${name}/a.pem`),
    address.replace('https', 'http'),
    `${address}?a=b`,
    `${address}#a`,
    address.replace('.pem', '.txt'),
    address.replace('/Simple', '/bucket/Simple'),
    address.replace('/Simple', '/%2e%2e%2fSimple'),
    `\t${address}`,
    `file:///etc/passwd.pem`,
    'a.pem',
  ]
  for (const SigningCertURL of [...addresses, 7, undefined]) {
    const message = signFields({ ...notification, SigningCertURL })
    assert.equal(await codeOf(message, { host }), 'KEY_REFUSED', String(SigningCertURL))
  }
  assert.deepEqual(host.asked, [])
  const genuine = ['us-gov-west-1', 'ap-southeast-7', 'eu-isoe-west-1', 'us-east-1'].map((region) =>
    address.replace('eu-central-1', region),
  )
  genuine.push(address.replace('eu-central-1', 'cn-north-1').replace('.com', '.com.cn'))
  for (const SigningCertURL of genuine)
    assert.equal(
      await codeOf(signFields({ ...notification, SigningCertURL }), { host }),
      'ok',
      SigningCertURL,
    )
  assert.deepEqual(host.asked, genuine)
})

test('no line of a message can be moved into another field, because the signed text can be read in one way only', async () => {
  const Message = 'hello\nMessageId\nchosen\nSubject\nignore all that'
  const { Subject, ...bare } = notification
  const signed = signFields({ ...bare, Message })
  assert.equal(await codeOf(signed), 'ok', 'a message may hold such lines')
  const shifted = {
    ...signed,
    Message: 'hello',
    MessageId: `chosen\nSubject\nignore all that\nMessageId\n${bare['MessageId']}`,
  }
  assert.equal(await codeOf(shifted), 'BODY_MALFORMED')
  const MessageId = 'chosen'
  const subject = `ignore all that\nMessageId\n${bare['MessageId']}`
  assert.equal(await codeOf({ ...signed, Message: 'hello', MessageId, Subject: subject }), 'BODY_MALFORMED')
})

test('a header that names another topic or message than the body is refused, as mappings may read it', async () => {
  const signed = signFields(notification)
  const right = { 'x-amz-sns-topic-arn': topic, 'x-amz-sns-message-id': String(notification['MessageId']) }
  assert.equal(await codeOf(signed, { headers: right }), 'ok')
  for (const name of Object.keys(right))
    assert.equal(await codeOf(signed, { headers: { ...right, [name]: 'another' } }), 'BODY_MALFORMED', name)
})

test('a compressed message is refused, because mappings would see another text than the verifier', async () => {
  const signed = signFields(notification)
  for (const encoding of ['br', 'deflate', 'GZIP', 'identity, br'])
    assert.equal(await codeOf(signed, { headers: { 'content-encoding': encoding } }), 'BODY_NOT_COVERED')
  assert.equal(await codeOf(signed, { headers: { 'content-encoding': 'identity' } }), 'ok')
})

test('a text that is not a certificate is fetched again, so that an error page is not cached as one', async () => {
  const answers = ['<html>we are sorry</html>', certificate]
  const asked: (boolean | undefined)[] = []
  const host: VerifyDependencies = {
    async download(_, options) {
      asked.push(options?.fresh)
      return answers[asked.length - 1] ?? 'no more'
    },
  }
  assert.equal(await codeOf(signFields(notification), { host }), 'ok')
  assert.deepEqual(asked, [undefined, true])
  assert.equal(await codeOf(signFields(notification), { host }), 'KEY_REFUSED')
})

test('a certificate counts only in its period, and only with a strong RSA key', async () => {
  const codeFor = (pem: string) => codeOf(signFields(notification), { host: createHost(() => pem) })
  assert.equal(await codeFor(createCertificate(rsa, '20260101000000Z', '20260115115959Z')), 'KEY_REFUSED')
  assert.equal(await codeFor(createCertificate(rsa, '20260115120001Z', '20270101000000Z')), 'KEY_REFUSED')
  assert.equal(await codeFor(createCertificate(rsa, '20260101000000Z', '20260201000000Z')), 'ok')
  assert.equal(await codeFor('<html>not a certificate</html>'), 'KEY_REFUSED')
  for (const pair of [
    generateKeyPairSync('rsa', { modulusLength: 1024 }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ]) {
    const host = createHost(() => createCertificate(pair))
    assert.equal(await codeOf(signFields(notification, pair), { host }), 'KEY_REFUSED')
  }
})

test('a certificate that does not exist is refused, and one that cannot be fetched now leaves the result undecided', async () => {
  const failing = (isAbsent: boolean) =>
    createHost(() => {
      throw new UnavailableError('no', { isAbsent })
    })
  assert.equal(await codeOf(signFields(notification), { host: failing(true) }), 'KEY_REFUSED')
  await assert.rejects(verify(signFields(notification), { host: failing(false) }), UnavailableError)
})

test('the digest is that of the version, and the version can be configured', async () => {
  const first = signFields({ ...notification, SignatureVersion: '1' })
  const second = signFields(notification)
  assert.equal(await codeOf(first), 'ok')
  assert.equal(await codeOf({ ...first, SignatureVersion: '2' }), 'SIGNATURE_MISMATCH')
  assert.equal(await codeOf(signFields({ ...notification, SignatureVersion: '3' })), 'SIGNATURE_MALFORMED')
  assert.equal(await codeOf(first, { policy: { ...policy, signatureVersion: 2 } }), 'SIGNATURE_WEAKER')
  assert.equal(await codeOf(second, { policy: { ...policy, signatureVersion: 2 } }), 'ok')
  assert.equal(await codeOf(second, { policy: { ...policy, signatureVersion: 1 } }), 'SIGNATURE_MALFORMED')
})

test('raw delivery is refused with what to do about it', async () => {
  const result = await verify('{"alarm":"on"}', { headers: { 'x-amz-sns-rawdelivery': 'true' } })
  assert.ok(!result.ok)
  assert.equal(result.code, 'SIGNATURE_MISSING')
  assert.match(result.reason ?? '', /raw message delivery/)
})

test('a header with another type than the body is refused, and without that header there is no signature', async () => {
  const headers = { 'x-amz-sns-message-type': 'SubscriptionConfirmation' }
  assert.equal(await codeOf(signFields(notification), { headers }), 'BODY_MALFORMED')
  assert.equal(createSnsVerifier({ family: 'sns' }, policy)?.isPresent({}), false)
})

test('a tolerance limits the age of a genuine message', async () => {
  const strict = { ...policy, tolerance: '5m' }
  assert.equal(await codeOf(signFields(notification), { policy: strict }), 'ok')
  const late = await verify(signFields(notification), { policy: strict, now: now + 600_000 })
  assert.ok(!late.ok)
  assert.deepEqual([late.code, late.skewSeconds], ['TIMESTAMP_OUTSIDE', -601])
  const forged = { ...signFields(notification), Message: 'x' }
  assert.equal(await codeOf(forged, { policy: strict, now: now + 600_000 }), 'SIGNATURE_MISMATCH')
})

test('no body makes it throw', async () => {
  const signed = signFields(notification)
  const cases: [Fields | string, string][] = [
    ['', 'BODY_MALFORMED'],
    ['null', 'BODY_MALFORMED'],
    ['[]', 'BODY_MALFORMED'],
    ['{"__proto__":{"Type":"Notification"}}', 'BODY_MALFORMED'],
    [{ ...signed, Message: 7 }, 'BODY_MALFORMED'],
    [{ ...signed, Message: undefined }, 'BODY_MALFORMED'],
    [{ ...signed, Type: 'constructor' }, 'BODY_MALFORMED'],
    [{ ...signed, Timestamp: 'yesterday' }, 'TIMESTAMP_MALFORMED'],
    [{ ...signed, Timestamp: '2026-13-45T11:59:59Z' }, 'TIMESTAMP_MALFORMED'],
    [{ ...signed, Signature: '***' }, 'SIGNATURE_MALFORMED'],
    [{ ...signed, Signature: '' }, 'SIGNATURE_MALFORMED'],
    [{ ...signed, Signature: 'AAAA' }, 'SIGNATURE_MISMATCH'],
    [{ ...signed, Signature: undefined }, 'SIGNATURE_MISSING'],
    [{ ...signed, SignatureVersion: 2 }, 'SIGNATURE_MALFORMED'],
    [{ ...signed, TopicArn: [topic] }, 'BODY_MALFORMED'],
  ]
  for (const [body, code] of cases) assert.equal(await codeOf(body), code, JSON.stringify(body))
})
