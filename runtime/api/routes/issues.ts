/** Declares the routes of open problems. Their keys hold what senders choose, so they stand in bodies and not in paths. */

import { Type } from '@reveille/engine/schema'
import { issue, issueStates } from '../../store/record-schemas.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { givenText, optional } from './schema.ts'

const key = givenText('The key of the issue.', 2_048)
const keyBody = Type.Object({ key }, { additionalProperties: false })

export const issueRoutes = {
  listIssues: {
    method: 'GET',
    path: '/issues',
    needs: 'read',
    summary: 'Lists problems, the open ones and the worst first, each with its cause and the one next step.',
    query: { ...pageQuery, ...optional({ state: Type.Enum(issueStates) }) },
    answers: { 200: pageOf(issue) },
  },
  resolveIssue: {
    method: 'POST',
    path: '/issues/resolve',
    needs: 'operate',
    summary: 'Marks a problem as resolved. It opens again when it comes again.',
    body: keyBody,
    answers: { 200: issue },
  },
  muteIssue: {
    method: 'POST',
    path: '/issues/mute',
    needs: 'operate',
    summary: 'Mutes a problem, for good or until a time.',
    body: Type.Object(
      {
        key,
        ...optional({
          until: Type.Integer({ description: 'Milliseconds since the Unix epoch.', minimum: 1 }),
        }),
      },
      { additionalProperties: false },
    ),
    answers: { 200: issue },
  },
  reopenIssue: {
    method: 'POST',
    path: '/issues/reopen',
    needs: 'operate',
    summary: 'Opens a resolved or muted problem again.',
    body: keyBody,
    answers: { 200: issue },
  },
} satisfies Routes
