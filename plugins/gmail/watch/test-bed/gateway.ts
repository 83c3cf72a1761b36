/** Provides a gateway in memory, which records the posts that it accepts, and refuses others by a rule. */

import type { Posted, PostLimits } from '@reveille/kit'
import type { MailPost } from '../../mail/index.ts'

export function createFakeGateway() {
  const posts: MailPost[] = []
  const taken = new Map<string, number>()
  const limits: PostLimits = { maxBodyBytes: 1_000_000, maxActions: 100, maxRenderedBytes: 1_000_000 }
  const gateway = {
    /** The bodies, as they were taken. */
    posts: posts as readonly MailPost[],
    /** Number of times that each mail was accepted. */
    taken: taken as ReadonlyMap<string, number>,
    /** The limits that the gateway announces. */
    limits,
    /** Returns a refusal, or undefined to take the post. */
    rule: (_post: MailPost): Posted | undefined => undefined,
    post(body: unknown): Posted {
      const post = JSON.parse(JSON.stringify(body)) as MailPost
      const refusal = gateway.rule(post)
      if (refusal) return refusal
      posts.push(post)
      for (const { id } of post.messages) taken.set(id, (taken.get(id) ?? 0) + 1)
      return { status: 202 }
    },
  }
  return gateway
}
