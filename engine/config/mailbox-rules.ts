/** Owns the rules of `hooks.gmail` that its plugin cannot know. */

import type { ConfigurationValue } from './schema/configuration-schema.ts'
import { foreignKey } from './schema/foreign-keys.ts'
import type { Finding } from './schema/violation.ts'

export function* checkMailbox({ gmail, enabled }: ConfigurationValue['hooks']): Iterable<Finding> {
  for (const key of Object.keys(gmail)) {
    const finding = foreignKey(['hooks', 'gmail', key])
    if (finding) yield finding
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
