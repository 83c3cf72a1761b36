/** Handles the routes of open problems. */

import type { CommandResult } from '../store/port.ts'
import { missing } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { withMaskedCursor } from './masked-cursor.ts'
import type { AdminOptions } from './options.ts'
import type { issueRoutes } from './routes/issues.ts'

export function createIssueHandlers({
  store,
  issues,
  log,
  mask,
}: AdminOptions): Handlers<typeof issueRoutes> {
  async function change(
    key: string,
    event: string,
    perform: (key: string) => Promise<CommandResult>,
    { by }: { readonly by: string },
  ) {
    const { ok } = await perform(key)
    const issue = ok ? await store.read.issue(key) : undefined
    if (issue === undefined) return missing('issue')
    log.info({ event, code: issue.code, subject: issue.subject, by })
    return issue
  }

  return {
    listIssues: async ({ query }) => withMaskedCursor(await issues.list(query), mask),
    resolveIssue: ({ body: { key }, ...call }) => change(key, 'issue-resolved', issues.resolve, call),
    muteIssue: ({ body: { key, until = null }, ...call }) =>
      change(key, 'issue-muted', (found) => issues.mute(found, until), call),
    reopenIssue: ({ body: { key }, ...call }) => change(key, 'issue-reopened', issues.reopen, call),
  }
}
