import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { now } from '../signing-fixture.ts'
import { type Headers, UnavailableError, type VerifyResult } from '../verifier.ts'
import { createSnsVerifier } from './sns.ts'
import type { Fields, KeyPair } from './sns-fixture.ts'
import { createCertificate, rsa, snsHost, snsMessage, topic } from './sns-fixture.ts'

const certificate = createCertificate(rsa)
const address = `https://${snsHost}/SimpleNotificationService-0123456789abcdef.pem`
const policy: VerifyPolicy = { topicArns: [topic] }
const messageId = snsMessage()['MessageId']

/** Differences from a good notification. */
interface Sent {
  /** Fields that are signed. */
  readonly signed?: Fields
  /** Fields that are changed after signing. */
  readonly changed?: Fields
  /** The body in place of a notification. */
  readonly body?: string
  readonly headers?: Headers
  readonly policy?: VerifyPolicy
  readonly key?: KeyPair
  readonly now?: number
  /** The downloaded texts, in order. */
  readonly downloads?: readonly string[]
  readonly isAbsent?: boolean
}

/** Returns the result, and what was downloaded: an address, with `!` where a fresh copy was asked for. */
async function verify(sent: Sent): Promise<{ result: VerifyResult; asked: readonly string[] }> {
  const fields: Fields = { ...snsMessage(sent.signed, sent.key), ...sent.changed }
  const type = sent.body === undefined ? String(fields['Type']) : 'Notification'
  const request = {
    method: 'POST',
    target: '/hooks/sns',
    headers: { 'x-amz-sns-message-type': type, ...sent.headers },
    rawBody: Buffer.from(sent.body ?? JSON.stringify(fields)),
    now: sent.now ?? now,
  }
  const asked: string[] = []
  const verifier = createSnsVerifier({ family: 'sns' }, { ...policy, ...sent.policy })
  assert.equal(verifier?.isPresent(request.headers), true)
  const { downloads = [certificate], isAbsent } = sent
  const result = await verifier.verify(request, {
    async download(url, options) {
      asked.push(options?.fresh ? `${url}!` : url)
      if (isAbsent !== undefined) throw new UnavailableError('no', { isAbsent })
      return downloads[asked.length - 1] ?? downloads.at(-1) ?? ''
    },
  })
  return { result, asked }
}

const confirmation = { Type: 'SubscriptionConfirmation', Subject: undefined, Token: 'abc' }
const SubscribeURL = `https://${snsHost}/?Action=ConfirmSubscription`
const lines = 'hello\nMessageId\nchosen\nSubject\nignore all that'
const ofLines = { ...confirmation, Type: 'Notification', Token: undefined, Message: lines }
const headersOf = (name: string, id: unknown = messageId) => ({
  headers: { 'x-amz-sns-topic-arn': name, 'x-amz-sns-message-id': String(id) },
})
const ofType = (type: string): Sent => ({ headers: { 'x-amz-sns-message-type': type } })
const movedInto = (changed: Fields): Sent => ({ signed: ofLines, changed: { Message: 'hello', ...changed } })
const otherTopic = topic.replace('123456789012:alerts', '999999999999:attacker')
const malformed = (sent: Sent): [string, Sent] => ['BODY_MALFORMED', sent]
const subscribing = { ...confirmation, SubscribeURL }
const encoded = (encoding: string): Sent => ({ headers: { 'content-encoding': encoding } })
const between = (from: string, to: string): Sent => ({ downloads: [createCertificate(rsa, from, to)] })
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const strict = { tolerance: '5m' }
const late = now + 600_000
const first = { SignatureVersion: '1' }

/** Under each title, the code of a message, and perhaps what is downloaded for it. */
const messages: Readonly<Record<string, readonly (readonly [string, Sent, (readonly string[])?])[]>> = {
  'a notification is accepted, with a subject and without': [
    ['ok', {}, [address]],
    ['ok', { signed: { Subject: undefined } }],
    ['ok', { signed: { Subject: null } }],
    ['SIGNATURE_MISMATCH', { signed: { Subject: undefined }, changed: { Subject: 'Grüße' } }],
    ['BODY_MALFORMED', { signed: { Subject: undefined }, changed: { Subject: { a: 1 } } }],
  ],
  'a confirmation is signed with its token and its address': [
    ['ok', { signed: subscribing }],
    ['SIGNATURE_MISMATCH', { signed: subscribing, changed: { SubscribeURL: 'https://evil.example/' } }],
    ['BODY_MALFORMED', { signed: confirmation }],
  ],
  'a topic that is not configured is refused before anything is downloaded': [
    ['WRONG_TOPIC', { signed: { TopicArn: otherTopic } }, []],
  ],
  'no line of a message can be moved into another field, because the signed text can be read in one way only':
    [
      ['ok', { signed: ofLines }],
      [
        'BODY_MALFORMED',
        movedInto({ MessageId: `chosen\nSubject\nignore all that\nMessageId\n${messageId}` }),
      ],
      [
        'BODY_MALFORMED',
        movedInto({ MessageId: 'chosen', Subject: `ignore all that\nMessageId\n${messageId}` }),
      ],
    ],
  'a header that names another topic, message or type than the body is refused, as mappings may read it': [
    ['ok', headersOf(topic)],
    ['BODY_MALFORMED', headersOf('another')],
    ['BODY_MALFORMED', headersOf(topic, 'another')],
    ['BODY_MALFORMED', ofType('SubscriptionConfirmation')],
  ],
  'a compressed message is refused, because mappings would see another text than the verifier': [
    ...['br', 'deflate', 'GZIP', 'identity, br'].map((each): [string, Sent] => [
      'BODY_NOT_COVERED',
      encoded(each),
    ]),
    ['ok', encoded('identity')],
  ],
  'a text that is not a certificate is fetched again, so that an error page is not cached as one': [
    ['ok', { downloads: ['<html>we are sorry</html>', certificate] }, [address, `${address}!`]],
    ['KEY_REFUSED', { downloads: ['<html>not a certificate</html>'] }],
  ],
  'a certificate counts only in its period, and only with a strong RSA key': [
    ['KEY_REFUSED', between('20260101000000Z', '20260115115959Z')],
    ['KEY_REFUSED', between('20260115120001Z', '20270101000000Z')],
    ['ok', between('20260101000000Z', '20260201000000Z')],
    ['KEY_REFUSED', { key: weak, downloads: [createCertificate(weak)] }],
    ['KEY_REFUSED', { key: curve, downloads: [createCertificate(curve)] }],
    ['KEY_REFUSED', { isAbsent: true }],
  ],
  'the digest is that of the version, and the version can be configured': [
    ['ok', { signed: first }],
    ['SIGNATURE_MISMATCH', { signed: first, changed: { SignatureVersion: '2' } }],
    ['SIGNATURE_MALFORMED', { signed: { SignatureVersion: '3' } }],
    ['SIGNATURE_WEAKER', { signed: first, policy: { signatureVersion: 2 } }],
    ['ok', { policy: { signatureVersion: 2 } }],
    ['SIGNATURE_MALFORMED', { policy: { signatureVersion: 1 } }],
  ],
  'a tolerance limits the age of a genuine message': [
    ['ok', { policy: strict }],
    ['TIMESTAMP_OUTSIDE', { policy: strict, now: late }],
    ['SIGNATURE_MISMATCH', { policy: strict, now: late, changed: { Message: 'x' } }],
  ],
  'no body makes it throw': [
    ...['', 'null', '[]', '{"__proto__":{"Type":"Notification"}}'].map((body) => malformed({ body })),
    ...[{ Message: 7 }, { Message: undefined }, { Type: 'constructor' }, { TopicArn: [topic] }].map(
      (changed) => malformed({ changed }),
    ),
    ['TIMESTAMP_MALFORMED', { changed: { Timestamp: 'yesterday' } }],
    ['TIMESTAMP_MALFORMED', { changed: { Timestamp: '2026-13-45T11:59:59Z' } }],
    ['SIGNATURE_MALFORMED', { changed: { Signature: '***' } }],
    ['SIGNATURE_MALFORMED', { changed: { Signature: '' } }],
    ['SIGNATURE_MISMATCH', { changed: { Signature: 'AAAA' } }],
    ['SIGNATURE_MISSING', { changed: { Signature: undefined } }],
    ['SIGNATURE_MALFORMED', { changed: { SignatureVersion: 2 } }],
  ],
}

for (const [title, rows] of Object.entries(messages))
  test(title, async () => {
    for (const [index, [code, sent, downloads]] of rows.entries()) {
      const { result, asked } = await verify(sent)
      assert.equal(result.ok ? 'ok' : result.code, code, `row ${index + 1}`)
      if (downloads !== undefined) assert.deepEqual(asked, downloads, `row ${index + 1}`)
    }
  })

test('certificates are downloaded from SNS only, however the address is written', async () => {
  const host = snsHost
  const hosts = `${host}.evil.example evil.example/${host} ${host}@evil.example user:password@${host} ${host}:443
    ${host}:8443 ${host}\\@evil.example SNS.eu-central-1.amazonaws.com sns.amazonaws.com
    s3.eu-central-1.amazonaws.com ${host}. sns.a.b.amazonaws.com`
  // These are buckets of S3 with the name `sns`, which anybody can create.
  const buckets = `sns.s3.amazonaws.com sns.s3-us-west-2.amazonaws.com sns.s3-accelerate.amazonaws.com
    sns.s3-fips-us-gov-west-1.amazonaws.com`
  const hostile = [
    ...`${hosts} ${buckets}`.split(/\s+/).map((name) => `https://${name}/a.pem`),
    ...[address.replace('https', 'http'), `${address}?a=b`, `${address}#a`, `\t${address}`],
    ...['/bucket/', '/%2e%2e%2f'].map((start) => address.replace('/Simple', `${start}Simple`)),
    address.replace('.pem', '.txt'),
    ...['file:///etc/passwd.pem', 'a.pem', 7, undefined],
  ]
  for (const SigningCertURL of hostile) {
    const { result, asked } = await verify({ signed: { SigningCertURL } })
    assert.deepEqual([result.ok || result.code, asked], ['KEY_REFUSED', []], String(SigningCertURL))
  }
  for (const region of ['us-gov-west-1', 'ap-southeast-7', 'eu-isoe-west-1', 'us-east-1', 'cn-north-1']) {
    const inRegion = address.replace('eu-central-1', region)
    const SigningCertURL = region.startsWith('cn') ? inRegion.replace('.com', '.com.cn') : inRegion
    const { result, asked } = await verify({ signed: { SigningCertURL } })
    assert.deepEqual([result.ok, asked], [true, [SigningCertURL]])
  }
})

test('without a configured topic nothing can be verified, and without the header there is no signature', () => {
  for (const topicArns of [undefined, [], ['']])
    assert.equal(createSnsVerifier({ family: 'sns' }, { topicArns }), undefined)
  assert.equal(createSnsVerifier({ family: 'sns' }, policy)?.isPresent({}), false)
})

test('the result names the scheme, by how much a message is late, and what to do about raw delivery', async () => {
  assert.deepEqual((await verify({})).result, { ok: true, scheme: 'default', secret: 0 })
  const { result } = await verify({ policy: strict, now: late })
  assert.equal(!result.ok && result.skewSeconds, -601)
  const raw = await verify({ body: '{"alarm":"on"}', headers: { 'x-amz-sns-rawdelivery': 'true' } })
  assert.ok(!raw.result.ok && raw.result.code === 'SIGNATURE_MISSING')
  assert.match(raw.result.reason ?? '', /raw message delivery/)
})

test('a certificate that cannot be fetched now leaves the result undecided', async () => {
  await assert.rejects(verify({ isAbsent: false }), UnavailableError)
})
