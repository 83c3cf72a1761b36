/** Owns giving a member a role in a policy that others have written, without taking anything from it. */

import { type Facts, listOf } from '@reveille/kit'
import { createReader } from './reading.ts'
import { pubsubService } from './service.ts'

const { records, text, failure } = createReader(pubsubService)

/**
 * Undefined where the member has the role already. One that has it on a condition has it now and then only, and gets it
 * besides. What is not understood of a policy is not written back: that would take roles from others.
 * https://docs.cloud.google.com/iam/docs/reference/rest/v1/Policy
 */
export function withMember(policy: Facts, role: string, member: string): Facts | undefined {
  text(policy, 'etag')
  const bindings = records(policy, 'bindings')
  const place = bindings.findIndex((each) => each['role'] === role && each['condition'] == null)
  const binding = bindings[place]
  if (binding === undefined) return { ...policy, bindings: [...bindings, { role, members: [member] }] }
  const { members = [] } = binding
  if (!Array.isArray(members)) throw failure('gave a role without a list of members')
  if (members.includes(member)) return undefined
  const changed = { ...binding, members: [...listOf(members), member] }
  return { ...policy, bindings: bindings.with(place, changed) }
}
