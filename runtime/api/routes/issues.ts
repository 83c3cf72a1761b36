/** Declares the routes of issues. Their keys may hold text from senders, so they are sent in bodies and not in paths. */

import { Type } from '@reveille/engine/schema'
import { issue, issueStates } from '../../store/record-schemas.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { boundedText, optional } from './schema.ts'

const key = boundedText('The key of the issue.', 2_048)
const keyBody = Type.Object({ key }, { additionalProperties: false })

export const issueRoutes = {
  listIssues: {
    method: 'GET',
    path: '/issues',
    needs: 'read',
    summary: 'Lists issues, open and worst first, each with its cause and next step.',
    query: { ...pageQuery, ...optional({ state: Type.Enum(issueStates) }) },
    answers: { 200: pageOf(issue) },
  },
  resolveIssue: {
    method: 'POST',
    path: '/issues/resolve',
    needs: 'operate',
    summary: 'Marks an issue as resolved. It reopens if the problem recurs.',
    body: keyBody,
    answers: { 200: issue },
  },
  muteIssue: {
    method: 'POST',
    path: '/issues/mute',
    needs: 'operate',
    summary: 'Mutes an issue permanently or until a time.',
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
    summary: 'Reopens a resolved or muted issue.',
    body: keyBody,
    answers: { 200: issue },
  },
} satisfies Routes
