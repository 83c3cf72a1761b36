/** Handles the routes of open problems. */

import type { FastifyReply } from 'fastify'
import type { CommandResult } from '../store/port.ts'
import { missing } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { createMaskedKeys } from './masked-keys.ts'
import type { AdminOptions } from './options.ts'
import type { issueRoutes } from './routes/issues.ts'

export function createIssueHandlers({
  store,
  issues,
  log,
  mask,
}: AdminOptions): Handlers<typeof issueRoutes> {
  const keys = createMaskedKeys(issues.list, mask, ({ last }) => last)

  async function change(
    shown: string,
    event: string,
    by: (key: string) => Promise<CommandResult>,
    reply: FastifyReply,
  ) {
    const key = await keys.keyOf(shown)
    const { ok } = await by(key)
    const issue = ok ? await store.read.issue(key) : undefined
    if (issue === undefined) return missing(reply, 'issue')
    log.info({ event, code: issue.code, subject: issue.subject, by: 'api' })
    return issue
  }

  return {
    listIssues: ({ query }) => keys.page(query),
    resolveIssue: ({ body: { key }, reply }) => change(key, 'issue-resolved', issues.resolve, reply),
    muteIssue: ({ body: { key, until = null }, reply }) =>
      change(key, 'issue-muted', (found) => issues.mute(found, until), reply),
    reopenIssue: ({ body: { key }, reply }) => change(key, 'issue-reopened', issues.reopen, reply),
  }
}
