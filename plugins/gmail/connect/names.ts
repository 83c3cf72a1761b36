/** Names the topic and the subscription, and finds the project that they are in. */

import { permanentError } from '@reveille/kit'
import type { Client } from './client.ts'
import type { Names, SetupOptions } from './setup-options.ts'

interface Resource {
  /** Absent if only the last part of the name was given. */
  readonly project?: string
  readonly id: string
}

const defaultId = 'reveille-gmail'

/** @throws PluginError `project-missing`, `other-project`, `bad-name` */
export function nameResources(options: SetupOptions, config: SetupOptions, client: Client): Names {
  const before = {
    topic: split('topics', config.topic),
    subscription: split('subscriptions', config.subscription),
  }
  const asked = {
    topic: split('topics', options.topic),
    subscription: split('subscriptions', options.subscription),
  }
  const project = options.project ?? asked.topic?.project ?? before.topic?.project ?? client.project
  if (project === undefined)
    throw permanentError(
      'project-missing',
      'Nothing says which project of Google Cloud the OAuth client is of. Pass its id with --project.',
    )
  checkProject(asked.topic?.project ?? project, client.project ?? project)
  checkProject(project, asked.topic?.project ?? project)

  const stays = before.subscription && before.subscription.project !== before.topic?.project
  const formerly = stays || before.topic?.project === project ? before.subscription?.project : undefined
  const subscriptionProject = (asked.subscription ? asked.subscription.project : formerly) ?? project
  const subscription = asked.subscription ?? before.subscription
  return {
    topic: `projects/${project}/topics/${(asked.topic ?? before.topic)?.id ?? defaultId}`,
    subscription: `projects/${subscriptionProject}/subscriptions/${subscription?.id ?? defaultId}`,
  }
}

/** https://developers.google.com/workspace/gmail/api/reference/rest/v1/users/watch: it "must exactly match". */
function checkProject(project: string, needed: string): void {
  if (project === needed) return
  throw permanentError(
    'other-project',
    `The topic would be in the project ${project}, and Gmail asks that it is in that of the OAuth client, ${needed}. Pass --project ${needed}, or the file of a client of ${project} with --client-file.`,
  )
}

/** https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names */
const goodId = /^(?!goog)[a-z][\w.~+%-]{2,254}$/i

function split(kind: 'topics' | 'subscriptions', name: string | undefined): Resource | undefined {
  if (name === undefined) return undefined
  const [, project, found, id = name] = /^projects\/([^/\s]+)\/([^/\s]+)\/([^/]+)$/.exec(name.trim()) ?? []
  if ((found === undefined || found === kind) && goodId.test(id.trim())) return { project, id: id.trim() }
  throw permanentError(
    'bad-name',
    `\`${kind === 'topics' ? 'topic' : 'subscription'}\` must be projects/<project>/${kind}/<name> or only the name: a letter, then 2 to 254 letters, digits and any of - . _ ~ + %.`,
  )
}
