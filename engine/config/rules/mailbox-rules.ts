/** Checks the rules of the mailbox that its plugin cannot know. */

import type { Finding } from '../file/diagnostic.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { foreignKey } from '../schema/foreign-keys.ts'
import { mailbox, mailboxPath, mailboxSetup, wholeSubscription } from '../values/mailbox.ts'

export function* checkMailbox({ [mailbox]: block, enabled }: ConfigurationValue['hooks']): Iterable<Finding> {
  for (const key of Object.keys(block)) {
    const finding = foreignKey([...mailboxPath, key], block)
    if (finding !== undefined && finding !== 'none') yield finding
  }
  const subscription = wholeSubscription(block)
  if (subscription !== block['subscription']) {
    const path = [...mailboxPath, 'subscription']
    const hint = `Write it whole. \`${mailboxSetup}\` connects the mailbox, and has the subscription pulled.`
    yield { severity: 'warning', path, code: 'SHORT_NAME', problem: `is taken as ${subscription}`, hint }
  }
  if (enabled || Object.keys(block).length === 0) return
  const problem = 'names a mailbox, and no mail can be taken while `hooks.enabled` is not true'
  const hint = 'Write `enabled: true` under `hooks:`. What comes until then is fetched afterwards.'
  yield { severity: 'warning', path: mailboxPath, at: 'key', code: 'MAIL_WITHOUT_HOOKS', problem, hint }
}
