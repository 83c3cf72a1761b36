/** Declares the routes of requests. */

import { Type } from '@reveille/engine/schema'
import { requestItem } from '../../store/record-schemas.ts'
import { requestOutcomes } from '../../store/records.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { request } from './records.ts'
import { givenText, id, optional } from './schema.ts'

export const instant = (description: string) =>
  Type.String({
    description,
    pattern:
      '^(\\d{1,15}|\\d{4}-\\d\\d-\\d\\d([Tt ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?([Zz]|[+-]\\d\\d:?\\d\\d)?)?)$',
    expects: 'a time: ISO 8601 such as 2026-01-31T08:00Z, or milliseconds since the Unix epoch',
  })

/** The filters by which requests are chosen, in lists and wherever many are meant. */
export const requestFilters = optional({
  outcome: Type.Enum(requestOutcomes),
  endpoint: givenText('The name behind `/hooks/`.', 1_024),
  code: givenText('The error code.', 200),
  mapping: givenText('The id of the mapping that decided.', 1_024),
  client: givenText('The address of the client.', 200),
  deliveryId: givenText('The id that the sender gave the delivery.', 1_024),
  replayOf: id,
  generation: Type.Integer({ description: 'What was live, by the numbers of this node.', minimum: 1 }),
  generationDigest: givenText('The beginning of the digest of the generation.', 200),
  node: givenText('The name of the node that accepted it.', 255),
  since: instant('The earliest time.'),
  until: instant('The time before which they came.'),
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
