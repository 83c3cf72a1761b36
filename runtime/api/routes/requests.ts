/** Declares the routes of requests. */

import { Type } from '@reveille/engine/schema'
import { requestItem } from '../../store/record-schemas.ts'
import { requestOutcomes } from '../../store/records.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { request } from './records.ts'
import { boundedText, optional } from './schema.ts'

export const instant = (description: string) =>
  Type.String({
    description,
    pattern:
      '^(\\d{1,15}|\\d{4}-\\d\\d-\\d\\d([Tt ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?([Zz]|[+-]\\d\\d:?\\d\\d)?)?)$',
    expects: 'a time: ISO 8601 such as 2026-01-31T08:00Z, or milliseconds since the Unix epoch',
  })

/** The filters by which requests are chosen, in lists and wherever many are meant. The help of commands repeats them. */
export const requestFilters = optional({
  outcome: Type.Enum(requestOutcomes),
  endpoint: boundedText('Only those to this endpoint: the name behind `/hooks/`.', 1_024),
  code: boundedText('Only those that ended with this error code, such as `TRANSFORM_FAILED`.', 200),
  mapping: boundedText('Only those that this mapping decided.', 1_024),
  client: boundedText('Only those of this client.', 200),
  deliveryId: boundedText("Only those with this id of the sender's own, such as `x-github-delivery`.", 1_024),
  replayOf: Type.String({ description: 'Only the replays of this request.' }),
  generation: Type.Integer({
    description: 'Only those that this generation of the node decided, by its number.',
    minimum: 1,
  }),
  generationDigest: boundedText(
    'Only those that this generation decided, by the beginning of its digest.',
    200,
  ),
  node: boundedText('Only those that this node accepted.', 255),
  since: instant('Only those since then.'),
  until: instant('Only those before then.'),
})

export const requestRoutes = {
  listRequests: {
    method: 'GET',
    path: '/requests',
    needs: 'read',
    summary: 'Lists requests, the newest first.',
    query: { ...pageQuery, ...requestFilters },
    answers: { 200: pageOf(requestItem) },
  },
  readRequest: {
    method: 'GET',
    path: '/requests/:id',
    needs: 'read',
    summary: 'Shows one request.',
    answers: { 200: request },
  },
} satisfies Routes
