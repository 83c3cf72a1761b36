/** Verifies requests with known results, which are beside this project: of real senders, and of attackers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureData } from '../../test/sample-data.ts'
import type { VerifyPolicy } from '../config/schema/policy-schema.ts'
import { diagnose } from './diagnosis/diagnose.ts'
import { judge, requestOf, type Sent } from './signing-fixture.ts'

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
function knownRequests() {
  return signatureData('vectors')?.map((row) => {
    const known = row as Written
    const { id, provider, method, rawBody, now, tolerance, expect, why, certificates, jwks } = known
    const { secret, secrets, publicKey, audience, serviceAccount, topicArns } = known
    const url = known.url ?? `https://hooks.example.com/hooks/${provider}`
    const material = { secret: secrets ?? secret, publicKey, audience, serviceAccount, topicArns }
    const window = tolerance == null ? {} : { tolerance: `${tolerance}s` }
    const headers = Object.entries(known.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    const policy: VerifyPolicy = { provider, publicUrl: url, ...material, ...window }
    const target = url.replace(/^https?:\/\/[^/]*/, '').replace(/#.*$/, '')
    const sent: Sent = {
      method,
      target,
      headers: Object.fromEntries(headers),
      body: rawBody,
      now: now * 1000,
    }
    const download = async (address: string) =>
      certificates?.[address] ?? (jwks ? JSON.stringify(jwks) : assert.fail(`${address} was asked for`))
    return { id, policy, sent, dependencies: { download }, isValid: expect === 'valid', why }
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
