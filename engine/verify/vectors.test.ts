/** Verifies requests with known results, which are beside this project: of real senders, and of attackers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureData } from '../../test/sample-data.ts'
import type { HmacPolicy, VerifyPolicy } from '../config/schema/policy-schema.ts'
import { providerRow } from '../providers/index.ts'
import type { HmacScheme } from '../providers/scheme.ts'
import { diagnose } from './diagnosis/diagnose.ts'
import { judge, requestOf, type Sent } from './signing-fixture.ts'
import type { VerifyDependencies } from './verifier.ts'

interface Vector {
  readonly id: string
  readonly provider: string
  readonly policy: VerifyPolicy
  readonly sent: Sent
  readonly dependencies: VerifyDependencies
  readonly isValid: boolean
  /** Why it is valid or not. */
  readonly why: string
}

/** A known request as the data has it. Times are in seconds. */
interface Written extends Omit<VerifyPolicy, 'tolerance'> {
  readonly id: string
  readonly provider: string
  readonly secrets?: readonly string[]
  readonly certificates?: Readonly<Record<string, string>>
  readonly jwks?: object
  readonly method: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly now: number
  readonly tolerance?: number | null
  readonly expect: string
  readonly why: string
}

/** Returns requests with known results, or undefined without the folder beside this project. */
function knownRequests(): readonly Vector[] | undefined {
  return signatureData('vectors')?.map((row) => {
    const known = row as Written
    const { id, provider, method, rawBody, now, tolerance, expect, why, certificates, jwks } = known
    const { secret, secrets, publicKey, audience, serviceAccount, topicArns } = known
    const url = known.url ?? `https://hooks.example.com/hooks/${provider}`
    const material = { secret: secrets ?? secret, publicKey, audience, serviceAccount, topicArns }
    const window = tolerance == null ? {} : { tolerance: `${tolerance}s` }
    const headers = Object.entries(known.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    return {
      id,
      provider,
      policy: { provider, publicUrl: url, ...material, ...window },
      sent: {
        method,
        target: url.replace(/^https?:\/\/[^/]*/, '').replace(/#.*$/, ''),
        headers: Object.fromEntries(headers),
        body: rawBody,
        now: now * 1000,
      },
      dependencies: {
        download: async (address) =>
          certificates?.[address] ?? (jwks ? JSON.stringify(jwks) : assert.fail(`${address} was asked for`)),
      },
      isValid: expect === 'valid',
      why,
    }
  })
}

const vectors = knownRequests() ?? []
const options = { skip: vectors.length === 0 && 'the signatures are not beside this project' }

test('every known request gets the expected result, and its diagnosis agrees', options, async () => {
  for (const { id, policy, sent, dependencies, isValid, why } of vectors) {
    const result = await judge(policy, sent, dependencies)
    assert.equal(result === 'good', isValid, `${id}: ${why} ${result}`)
    const defaults = { ...policy, tolerance: undefined }
    assert.equal((await judge(defaults, sent, dependencies)) === 'good', isValid, `${id}: the default window`)
    const diagnosis = await diagnose(requestOf(sent), policy, [], dependencies)
    assert.equal(diagnosis.taken, isValid, id)
    // A failure without a finding has a sentence that says what is wrong.
    if (!diagnosis.taken && diagnosis.message.startsWith('the signature does not match'))
      assert.ok(diagnosis.findings.length > 0, id)
  }
  assert.ok(vectors.length > 300)
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

test('a scheme that is written out as `hmac` has the same results', options, async () => {
  const tried = new Set<string>()
  for (const { id, provider, policy, sent, isValid } of vectors) {
    const [scheme] = providerRow(provider)?.schemes ?? []
    const hmac = scheme?.family === 'hmac' ? writtenOut(scheme) : undefined
    if (hmac === undefined || provider === 'gitlab' || !mayCarry(sent.headers, hmac)) continue
    const secrets = [policy.secret ?? []].flat()
    const plain = hmac.key === 'base64' ? secrets.map((each) => each.replace(/^whsec_/, '')) : secrets
    const result = await judge({ ...policy, provider: 'hmac', secret: plain, hmac }, sent)
    assert.equal(result === 'good', isValid, `${id}: ${result}`)
    tried.add(provider)
  }
  assert.ok(tried.size >= 13, [...tried].join())
})

/** A header may have two names in the table, but has one in a policy. */
function mayCarry(headers: Sent['headers'], { header }: HmacPolicy): boolean {
  const other = header.startsWith('x-shopify') ? 'shopify-hmac-sha256' : header.replace(/^svix/, 'webhook')
  return header === other || headers?.[other] === undefined
}
