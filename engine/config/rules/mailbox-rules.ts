/** Checks the rules of `hooks.gmail` that its plugin cannot know. */

import type { Finding } from '../file/diagnostic.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { foreignKey } from '../schema/foreign-keys.ts'

export function* checkMailbox({ gmail, enabled }: ConfigurationValue['hooks']): Iterable<Finding> {
  for (const key of Object.keys(gmail)) {
    const finding = foreignKey(['hooks', 'gmail', key], gmail)
    if (finding !== undefined && finding !== 'none') yield finding
  }
  const subscription = wholeSubscription(gmail)
  if (subscription !== gmail['subscription']) {
    yield {
      severity: 'warning',
      path: ['hooks', 'gmail', 'subscription'],
      code: 'SHORT_NAME',
      message: `\`hooks.gmail.subscription\` is taken as ${subscription}`,
      hint: 'Write it whole. `reveille webhooks gmail setup` connects the mailbox, and has the subscription pulled.',
    }
  }
  if (enabled || Object.keys(gmail).length === 0) return
  yield {
    severity: 'warning',
    path: ['hooks', 'gmail'],
    at: 'key',
    code: 'MAIL_WITHOUT_HOOKS',
    message: '`hooks.gmail` names a mailbox, and no mail can be taken while `hooks.enabled` is not true',
    hint: 'Write `enabled: true` under `hooks:`. What comes until then is fetched afterwards.',
  }
}

/** Completes the name alone, which OpenClaw writes for a subscription in the topic's project. */
export function wholeSubscription(gmail: Readonly<Record<string, unknown>>): unknown {
  const { topic, subscription } = gmail
  if (typeof topic !== 'string' || typeof subscription !== 'string') return subscription
  const [project] = /^projects\/[^/\s]+(?=\/topics\/)/.exec(topic) ?? []
  return project === undefined || !/^[^/\s]+$/.test(subscription)
    ? subscription
    : `${project}/subscriptions/${subscription}`
}
