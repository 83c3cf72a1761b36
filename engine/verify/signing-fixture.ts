/** Helps tests of signatures: a fixed time, digests made by hand, and requests that are verified by a provider. */

import { createHmac } from 'node:crypto'
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

export async function verifyBy(policy: VerifyPolicy, sent: Sent): Promise<VerifyResult> {
  const { verifier } = createProvider(policy)
  if (verifier === undefined) throw new Error('the policy has nothing to verify with')
  return verifier.verify(requestOf(sent), noDependencies)
}

/** Returns `good`, or the code of the failure. */
export async function judge(policy: VerifyPolicy, sent: Sent): Promise<string> {
  const result = await verifyBy(policy, sent)
  return result.ok ? 'good' : result.code
}
