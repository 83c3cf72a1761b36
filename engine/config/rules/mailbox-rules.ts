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
    const path = ['hooks', 'gmail', 'subscription']
    const hint =
      'Write it whole. `reveille webhooks gmail setup` connects the mailbox, and has the subscription pulled.'
    yield { severity: 'warning', path, code: 'SHORT_NAME', problem: `is taken as ${subscription}`, hint }
  }
  if (enabled || Object.keys(gmail).length === 0) return
  const problem = 'names a mailbox, and no mail can be taken while `hooks.enabled` is not true'
  const hint = 'Write `enabled: true` under `hooks:`. What comes until then is fetched afterwards.'
  yield {
    severity: 'warning',
    path: ['hooks', 'gmail'],
    at: 'key',
    code: 'MAIL_WITHOUT_HOOKS',
    problem,
    hint,
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
