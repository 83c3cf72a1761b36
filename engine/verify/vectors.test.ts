import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureData } from '../../test/sample-data.ts'
import type { HmacPolicy, VerifyPolicy } from '../config/schema/policy-schema.ts'
import { providerRow } from '../providers/index.ts'
import type { HmacScheme } from '../providers/scheme.ts'
import { judge, type Sent } from './signing-fixture.ts'

interface Vector {
  readonly id: string
  readonly provider: string
  readonly secret?: string
  readonly secrets?: readonly string[]
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  /** Seconds. */
  readonly now: number
  readonly tolerance: number | null
  readonly expect: 'valid' | 'invalid'
  readonly why: string
}

const missing = 'the signatures are not beside this project'
const all = signatureData('vectors') as readonly Vector[] | undefined
/** Vectors with keys or certificates are tested beside their verifiers. */
const vectors = all?.filter((each) => each.secret !== undefined || each.secrets !== undefined)

function policyOf({ provider, secret, secrets, url, tolerance }: Vector): VerifyPolicy {
  const window = tolerance === null ? {} : { tolerance: `${tolerance}s` }
  return { provider, secret: secrets ?? secret, publicUrl: url, ...window }
}

function sentBy({ method, url, headers, rawBody, now }: Vector): Sent {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const target = url.replace(/^https?:\/\/[^/]*/, '').replace(/#.*$/, '')
  return { method, target, headers: Object.fromEntries(lower), body: rawBody, now: now * 1000 }
}

test('every known request with a secret gets the expected result', {
  skip: !vectors && missing,
}, async () => {
  for (const vector of vectors ?? []) {
    const result = await judge(policyOf(vector), sentBy(vector))
    assert.equal(result === 'good', vector.expect === 'valid', `${vector.id}: ${vector.why} ${result}`)
  }
  assert.ok((vectors?.length ?? 0) > 250)
})

test("the default window of the table has the same effect as the policy's", {
  skip: !vectors && missing,
}, async () => {
  for (const vector of vectors ?? []) {
    const result = await judge({ ...policyOf(vector), tolerance: undefined }, sentBy(vector))
    assert.equal(result === 'good', vector.expect === 'valid', `${vector.id}: ${vector.why} ${result}`)
  }
})

/** Writes the policy of an operator who does not know that the table has the sender. */
function writtenOut(scheme: HmacScheme): HmacPolicy | undefined {
  const { signature, timestamp, id } = scheme
  if ('body' in signature || signature.headers[0]?.endsWith('*') || scheme.url === 'twilio') return undefined
  if (scheme.url === 'hubspot' || (id && 'body' in id) || (timestamp && 'body' in timestamp.from)) {
    return undefined
  }
  const from = timestamp?.from
  return {
    header: signature.headers[0] ?? '',
    algorithm: scheme.hash,
    encoding: scheme.encoding,
    key: scheme.key === 'whsec' ? 'base64' : scheme.key,
    signed: scheme.signed,
    prefix: signature.prefix,
    divider: signature.divider,
    element: signature.element,
    timestampHeader: from && 'header' in from ? from.header[0] : undefined,
    timestampElement: from && 'element' in from ? from.element : undefined,
    timestampUnit: timestamp?.unit ?? 's',
    idHeader: id?.[0],
  }
}

test('a scheme that is written out as `hmac` has the same results', {
  skip: !vectors && missing,
}, async () => {
  const tried = new Set<string>()
  for (const vector of vectors ?? []) {
    const [scheme] = providerRow(vector.provider)?.schemes ?? []
    const hmac = scheme?.family === 'hmac' ? writtenOut(scheme) : undefined
    const { headers } = sentBy(vector)
    if (hmac === undefined || vector.provider === 'gitlab' || !mayCarry(headers, hmac)) continue
    const policy = policyOf(vector)
    const secrets = [policy.secret ?? []].flat()
    const plain = hmac.key === 'base64' ? secrets.map((each) => each.replace(/^whsec_/, '')) : secrets
    const result = await judge({ ...policy, provider: 'hmac', secret: plain, hmac }, sentBy(vector))
    assert.equal(result === 'good', vector.expect === 'valid', `${vector.id}: ${vector.why} ${result}`)
    tried.add(vector.provider)
  }
  assert.ok(tried.size >= 13, [...tried].join())
})

/** A header may have two names in the table, but has one in a policy. */
function mayCarry(headers: Sent['headers'], { header }: HmacPolicy): boolean {
  const other = header.startsWith('x-shopify') ? 'shopify-hmac-sha256' : header.replace(/^svix/, 'webhook')
  return header === other || headers?.[other] === undefined
}

interface Question {
  readonly id: string
  readonly provider: string
  readonly request: Omit<Vector, 'id' | 'provider' | 'expect' | 'why'>
}

/** Maps each vector to the advice that decides it. */
const answers: Readonly<Record<string, string>> = {
  'stripe-q1': 'TIMESTAMP_OUTSIDE',
  'slack-q1': 'TIMESTAMP_OUTSIDE',
  'slack-q2': 'TIMESTAMP_MALFORMED',
  'hubspot-q1': 'TIMESTAMP_OUTSIDE',
  'hubspot-q2': 'good',
  'paddle-q1': 'TIMESTAMP_OUTSIDE',
  'linear-q1': 'good',
  'pagerduty-q1': 'good',
  'pagerduty-q2': 'good',
  'github-q1': 'good',
  'sentry-q1': 'SIGNATURE_MISSING',
}

const questions = signatureData('open-questions') as readonly Question[] | undefined

test('where guides and libraries disagree, the advice is followed', {
  skip: !questions && missing,
}, async () => {
  for (const [id, answer] of Object.entries(answers)) {
    const question = questions?.find((each) => each.id === id)
    assert.ok(question, id)
    const { provider, request } = question
    const url = request.url ?? `https://hooks.example.com/hooks/${provider}`
    const vector = {
      ...request,
      url,
      tolerance: request.tolerance ?? null,
      id,
      provider,
      why: '',
      expect: 'valid' as const,
    }
    assert.equal(await judge(policyOf(vector), sentBy(vector)), answer, id)
  }
})
