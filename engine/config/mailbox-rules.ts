/** Owns the rules of `hooks.gmail` that its plugin cannot know. */

import type { ConfigurationValue } from './schema/configuration-schema.ts'
import { insteadOfForeignKey } from './schema/foreign-keys.ts'
import type { Finding } from './schema/violation.ts'

export function* checkMailbox({ gmail, enabled }: ConfigurationValue['hooks']): Iterable<Finding> {
  for (const key of Object.keys(gmail)) {
    const path = ['hooks', 'gmail', key]
    const hint = insteadOfForeignKey(path)
    if (hint === undefined) continue
    const message = `\`hooks.gmail.${key}\` is a key of OpenClaw that this gateway does not have`
    yield { path, at: 'key', code: 'FOREIGN_KEY', message, hint }
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
