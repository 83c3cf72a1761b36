/** Helps tests of signatures: a fixed time, digests made by hand, and requests that are verified by a provider. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { VerifyPolicy } from '../config/schema/policy-schema.ts'
import type { Encoding, HashName } from '../providers/scheme.ts'
import { createProvider } from './provider.ts'
import type { SignedRequest, VerifyDependencies, VerifyResult } from './verifier.ts'

export const now = Date.UTC(2026, 0, 15, 12)
export const seconds = now / 1000

/** A verification with a secret needs no download. */
export const noDependencies: VerifyDependencies = {
  download: () => Promise.reject(new Error('nothing is to be downloaded')),
}

export function digest(
  signed: string | Uint8Array,
  key: string | Uint8Array,
  hash: HashName = 'sha256',
  encoding: Encoding = 'hex',
): string {
  return createHmac(hash, key).update(signed).digest(encoding)
}

export interface Sent extends Partial<Omit<SignedRequest, 'rawBody'>> {
  readonly body?: string | Uint8Array
}

export function requestOf({ body = '', ...sent }: Sent): SignedRequest {
  const rawBody = typeof body === 'string' ? Buffer.from(body) : body
  return { method: 'POST', target: '/hooks/test', headers: {}, now, ...sent, rawBody }
}

export async function verifyBy(
  policy: VerifyPolicy,
  sent: Sent,
  dependencies: VerifyDependencies = noDependencies,
): Promise<VerifyResult> {
  const { verifier } = createProvider(policy)
  if (verifier === undefined) throw new Error('the policy has nothing to verify with')
  const request = requestOf(sent)
  return verifier.isPresent(request.headers)
    ? verifier.verify(request, dependencies)
    : { ok: false, code: 'SIGNATURE_MISSING' }
}

/** Returns `good`, or the code of the failure. */
export async function judge(...asked: Parameters<typeof verifyBy>): Promise<string> {
  const result = await verifyBy(...asked)
  return result.ok ? 'good' : result.code
}

/** The expected code, or `good`; the headers; and what differs from the other requests of its test. */
export type Row = readonly [
  expected: string,
  headers: Sent['headers'],
  more?: Sent & { readonly policy?: VerifyPolicy },
]

/** The providers of which a good request is among the rows. */
export const proven = new Set<string | undefined>()

/** Registers a test for each title, which verifies one request for each row below it. */
export function testRows(policy: VerifyPolicy, common: Sent, ...table: readonly (string | Row)[]): void {
  for (const [place, title] of table.entries()) {
    if (typeof title !== 'string') continue
    const next = table.findIndex((each, index) => index > place && typeof each === 'string')
    const rows = table.slice(place + 1, next === -1 ? undefined : next) as readonly Row[]
    for (const [expected, , more] of rows)
      if (expected === 'good') proven.add(more?.policy?.provider ?? policy.provider)
    test(title, async () => {
      for (const [index, [expected, headers, { policy: more, ...sent } = {}]] of rows.entries()) {
        const merged = { ...common, ...sent, headers: { ...common.headers, ...headers } }
        assert.equal(await judge({ ...policy, ...more }, merged), expected, `row ${index + 1}`)
      }
    })
  }
}
