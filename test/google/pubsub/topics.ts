/** Keeps topics and their policies. https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics */

import { badArgument, type Refusal, refusal } from '../refusal.ts'

interface Binding {
  readonly role: string
  readonly members: readonly string[]
  readonly condition?: object
}

interface Policy {
  readonly bindings?: readonly Binding[]
  readonly etag?: string
  readonly version?: number
}

export interface Topic {
  readonly resource: { readonly name: string }
  bindings: readonly Binding[]
  /** Grows with each change of the policy. */
  policyVersion: number
}

export type Topics = ReturnType<typeof createTopics>

export function createTopics() {
  const topics = new Map<string, Topic>()

  function known(name: string): Topic {
    const topic = topics.get(name)
    if (topic === undefined) throw notFound(name)
    return topic
  }

  return {
    known,
    has: (name: string) => topics.has(name),
    names: () => [...topics.keys()],

    create(name: string, body: object): object {
      checkName(name)
      if (topics.has(name)) throw alreadyExists(name)
      const resource = { ...body, name }
      topics.set(name, { resource, bindings: [], policyVersion: 0 })
      return resource
    },

    delete(name: string): void {
      known(name)
      topics.delete(name)
    },

    policy(name: string): object {
      return showPolicy(known(name))
    },

    setPolicy(name: string, { bindings = [], etag }: Policy): object {
      const topic = known(name)
      for (const { role = '', members = [], condition } of bindings) {
        if (!/^(roles|projects\/[^/]+\/roles|organizations\/\d+\/roles)\/[\w.]+$/.test(role)) {
          throw badArgument('pubsub', `Role ${role} is not supported for this resource.`)
        }
        if (members.length === 0) throw badArgument('pubsub', 'A binding must have at least one member.')
        for (const member of members) {
          if (!isMember(member)) throw badArgument('pubsub', `The member ${member} is of an unknown type.`)
        }
        if (condition !== undefined) {
          throw refusal('pubsub', {
            code: 501,
            message: 'The fake Google knows no conditions of roles.',
            isWrong: true,
          })
        }
      }
      if (etag !== undefined && etag !== etagOf(topic)) {
        const message =
          'There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.'
        throw refusal('pubsub', { code: 409, message })
      }
      topic.bindings = bindings.map(({ role, members }) => ({ role, members: [...new Set(members)] }))
      topic.policyVersion += 1
      return showPolicy(topic)
    },

    grant(name: string, role: string, member: string): void {
      const topic = known(name)
      const others = topic.bindings.filter((binding) => binding.role !== role)
      const members = topic.bindings.find((binding) => binding.role === role)?.members ?? []
      topic.bindings = [...others, { role, members: [...new Set([...members, member])] }]
      topic.policyVersion += 1
    },

    withdraw(name: string, role: string, member: string): void {
      const topic = known(name)
      topic.bindings = topic.bindings
        .map((binding) => ({
          ...binding,
          members:
            binding.role === role ? binding.members.filter((each) => each !== member) : binding.members,
        }))
        .filter(({ members }) => members.length > 0)
      topic.policyVersion += 1
    },

    /** Returns whether the member has one of the roles. */
    allows(name: string, member: string, ...roles: readonly string[]): boolean {
      return known(name).bindings.some(
        ({ role, members }) =>
          roles.includes(role) && (members.includes(member) || members.includes('allUsers')),
      )
    },
  }
}

/** A policy that was never changed has nothing but its etag. */
function showPolicy(topic: Topic): object {
  const etag = etagOf(topic)
  return topic.bindings.length === 0 ? { etag } : { version: 1, etag, bindings: topic.bindings }
}

function etagOf({ policyVersion }: Topic): string {
  return policyVersion === 0 ? 'ACAB' : Buffer.from(`BwX${policyVersion}`.padEnd(8, '0')).toString('base64')
}

/** https://cloud.google.com/iam/docs/principal-identifiers */
function isMember(member: string): boolean {
  return /^(allUsers|allAuthenticatedUsers|(user|serviceAccount|group):[^\s@]+@[^\s@]+|domain:[^\s@]+)$/.test(
    member,
  )
}

/** https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names */
export function checkName(name: string): void {
  const last = name.split('/').at(-1) ?? ''
  if (/^[A-Za-z][\w.~+%-]{2,254}$/.test(last) && !/^goog/i.test(last)) return
  const more =
    'Refer to https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names for more information.'
  throw badArgument('pubsub', `Invalid resource name given (name=${name}). ${more}`)
}

export function notFound(name: string): Refusal {
  const message = `Resource not found (resource=${name.split('/').at(-1)}).`
  return refusal('pubsub', { code: 404, message })
}

export function alreadyExists(name: string): Refusal {
  const message = `Resource already exists in the project (resource=${name.split('/').at(-1)}).`
  return refusal('pubsub', { code: 409, status: 'ALREADY_EXISTS', message })
}
