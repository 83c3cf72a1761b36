/** Finds the person or bot who caused the event that a payload describes. */

import { valueAt } from '../../config/values/path.ts'
import { memberOf } from '../../payload/payload-path.ts'

function places(text: string): readonly (readonly string[])[] {
  return text.split(/\s+/).map((place) => place.split('.'))
}

/** The fields with the name of an actor, if the actor is an object. Numeric ids are not names. */
const namesOfActor = 'login username name nickname display_name displayName id account_id accountId'.split(
  ' ',
)

/**
 * The objects that describe the actor. GitHub, Gitea, Gogs: `sender`, and `pusher` of a push. GitLab, Jira, Discord:
 * `user`; a comment of Jira has no `user`, but its last author. Bitbucket, Linear, Sentry: `actor`. Discord in a
 * server: `member.user`. Telegram: `from`. `author` belongs to no sender in particular.
 * Sources: the providers' recorded bodies; docs.github.com "Webhook events and payloads", docs.gitlab.com "Webhook
 * events", support.atlassian.com "Event payloads", core.telegram.org/bots/api.
 */
const actors = places(
  'sender actor user pusher author comment.updateAuthor member.user message.from callback_query.from',
)

/**
 * The texts that name the actor. The first ones belong to no sender in particular. GitLab's push: `user_username`,
 * `user_name`; the latter also in Slack's commands. Slack's events: ids of users and bots; for an edited message that
 * of its author, who alone can edit it (docs.slack.dev, "message.message_changed"). PagerDuty: `event.agent`.
 */
const texts = places(
  `sender actor user author username user_username user_name user_id event.user event.bot_id event.username
  event.bot_profile.name event.message.user event.message.bot_id event.agent.summary`,
)

/** No provider has longer names, so a longer text is not compared. In UTF-16 units. */
const maxNameLength = 256

/** Returns the first listed name of the payload's actor. It takes a few microseconds, whatever the payload. */
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
  if (typeof value !== 'string' || value.length > maxNameLength) return undefined
  const name = value.trim()
  return name === '' ? undefined : name
}
