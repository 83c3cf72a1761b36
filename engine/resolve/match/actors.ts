/** Finds who did what a payload is about. */

import { memberOf, valueAt } from '../../payload/payload-path.ts'

type Place = readonly string[]

/** What a person or a bot is called, wherever it stands as an object. Ids that are numbers are no names. */
const namesOfActor = [
  'login',
  'username',
  'name',
  'nickname',
  'display_name',
  'displayName',
  'id',
  'account_id',
  'accountId',
] as const

/**
 * Objects that stand for the actor. GitHub, Gitea, Gogs: `sender`, and `pusher` of a push. GitLab, Jira, Discord:
 * `user`; Jira's comments have no `user`, but who wrote them last. Bitbucket, Linear, Sentry: `actor`. Discord in a
 * server: `member.user`. Telegram: `from`. `author` is no sender's in particular.
 * Facts: the providers' recorded bodies; docs.github.com "Webhook events and payloads", docs.gitlab.com "Webhook events",
 * support.atlassian.com "Event payloads", core.telegram.org/bots/api.
 */
const actors: readonly Place[] = [
  ['sender'],
  ['actor'],
  ['user'],
  ['pusher'],
  ['author'],
  ['comment', 'updateAuthor'],
  ['member', 'user'],
  ['message', 'from'],
  ['callback_query', 'from'],
]

/**
 * Texts that name the actor. The first ones are no sender's in particular. GitLab's push: `user_username`, `user_name`, the latter in Slack's commands too. Slack's
 * events: ids of users and bots; of an edited message, of its author, who alone can edit it (docs.slack.dev,
 * "message.message_changed"). PagerDuty: `event.agent`.
 */
const texts: readonly Place[] = [
  ['sender'],
  ['actor'],
  ['user'],
  ['author'],
  ['username'],
  ['user_username'],
  ['user_name'],
  ['user_id'],
  ['event', 'user'],
  ['event', 'bot_id'],
  ['event', 'username'],
  ['event', 'bot_profile', 'name'],
  ['event', 'message', 'user'],
  ['event', 'message', 'bot_id'],
  ['event', 'agent', 'summary'],
]

/** No provider has longer names; of a longer text nothing is compared. In UTF-16 units. */
const longestName = 256

/** The first name of the payload's actor that is listed. A few microseconds, whatever the payload. */
export function findActor(payload: unknown, isListed: (name: string) => boolean): string | undefined {
  for (const place of actors) {
    const actor = valueAt(payload, place)
    if (actor === undefined) continue
    for (const name of namesOfActor) {
      const text = nameOf(memberOf(actor, name))
      if (text !== undefined && isListed(text)) return text
    }
  }
  for (const place of texts) {
    const text = nameOf(valueAt(payload, place))
    if (text !== undefined && isListed(text)) return text
  }
  return undefined
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > longestName) return undefined
  const name = value.trim()
  return name === '' ? undefined : name
}
