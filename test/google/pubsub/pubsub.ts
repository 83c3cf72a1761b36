/** Implements Pub/Sub's operations. https://cloud.google.com/pubsub/docs/reference/rest */

import type { Handler, Handlers, Request } from '../handler.ts'
import { refusal } from '../refusal.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { Topics } from './topics.ts'

export interface PubSubOptions {
  readonly topics: Topics
  readonly subscriptions: Subscriptions
  /** Whether the account has these permissions in the project. */
  owns(account: string, project: string): boolean
}

export function createPubSub({ topics, subscriptions, owns }: PubSubOptions): Handlers {
  const operations: Handlers = {
    'topics.create': ({ path, body }) => topics.create(nameIn(path), body),
    'topics.get': ({ path }) => topics.known(nameIn(path)).resource,
    'topics.delete': ({ path }) => done(topics.delete(nameIn(path))),
    'topics.getIamPolicy': ({ path }) => topics.policy(nameIn(path)),
    'topics.setIamPolicy': ({ path, body }) => topics.setPolicy(nameIn(path), body.policy),
    'topics.publish': ({ path, body }) => {
      const { name } = topics.known(nameIn(path)).resource
      const messages: readonly { data?: string }[] = body.messages
      return { messageIds: messages.map(({ data = '' }) => subscriptions.publish(name, data)) }
    },
    'topics.list': ({ path }) => {
      const { project = '' } = path
      const names = topics.names().filter((name) => name.startsWith(`${project}/`))
      return names.length === 0 ? {} : { topics: names.map((name) => topics.known(name).resource) }
    },

    'subscriptions.create': ({ path, body }) => subscriptions.create(nameIn(path), body),
    'subscriptions.get': ({ path }) => {
      const { resource } = subscriptions.known(nameIn(path))
      return topics.has(resource.topic) ? resource : { ...resource, topic: '_deleted-topic_' }
    },
    'subscriptions.delete': ({ path }) => done(subscriptions.delete(nameIn(path))),
    'subscriptions.modifyPushConfig': ({ path, body }) =>
      done(subscriptions.changePush(nameIn(path), body.pushConfig)),
    'subscriptions.pull': ({ path, body, signal }) =>
      subscriptions.pull(nameIn(path), Number(body.maxMessages), {
        returnImmediately: body.returnImmediately === true,
        signal,
      }),
    'subscriptions.acknowledge': ({ path, body }) =>
      done(subscriptions.acknowledge(nameIn(path), body.ackIds)),
    'subscriptions.modifyAckDeadline': ({ path, body }) =>
      done(subscriptions.modifyDeadline(nameIn(path), body.ackIds, Number(body.ackDeadlineSeconds))),
  }

  function guarded(handler: Handler): Handler {
    return (request) => {
      const [, project = ''] = nameIn(request.path).split('/')
      if (!owns(request.caller.account, project)) {
        const message = 'User not authorized to perform this action.'
        throw refusal('pubsub', { code: 403, message })
      }
      return handler(request)
    }
  }

  return Object.fromEntries(
    Object.entries(operations).map(([id, handler]) => [`pubsub.projects.${id}`, guarded(handler)]),
  )
}

/** All operations have one parameter in the path: the resource. */
function nameIn(path: Request['path']): string {
  return Object.values(path)[0] ?? ''
}

/** Google answers an empty object if there is nothing to return. */
function done(_nothing: unknown): object {
  return {}
}
