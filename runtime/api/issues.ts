/** Handles the routes of open problems. */

import type { FastifyReply } from 'fastify'
import type { CommandResult } from '../store/port.ts'
import { missing } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import type { issueRoutes } from './routes/issues.ts'

export function createIssueHandlers({ store, issues, log }: AdminOptions): Handlers<typeof issueRoutes> {
  async function changed(key: string, event: string, result: Promise<CommandResult>, reply: FastifyReply) {
    const { ok } = await result
    const issue = ok ? await store.read.issue(key) : undefined
    if (issue === undefined) return missing(reply, 'issue')
    log.info({ event, code: issue.code, subject: issue.subject, by: 'api' })
    return issue
  }

  return {
    listIssues: ({ query }) => store.read.issues(query),
    resolveIssue: ({ body: { key }, reply }) => changed(key, 'issue-resolved', issues.resolve(key), reply),
    muteIssue: ({ body: { key, until = null }, reply }) =>
      changed(key, 'issue-muted', issues.mute(key, until), reply),
    reopenIssue: ({ body: { key }, reply }) => changed(key, 'issue-reopened', issues.reopen(key), reply),
  }
}
