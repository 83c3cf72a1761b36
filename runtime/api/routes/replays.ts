/** Declares the routes that show the body of a request, do requests again, and forget them. */

import { Type } from '@reveille/engine/schema'
import { job, jobItem, requestItem } from '../../store/record-schemas.ts'
import { requestOutcomes } from '../../store/records.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { dryRun } from './dry-runs.ts'
import { requestFilters } from './requests.ts'
import { boundedText, id, optional } from './schema.ts'

/** A body that an operator has edited. JSON may need six bytes for one. */
const maxEditedBytes = 64 * 1024 * 1024

const terms = optional({
  dryRun: Type.Boolean({ description: 'True to change nothing and return the expected result.' }),
  deliverAgain: Type.Boolean({
    description: 'True to deliver replies although an earlier one was, or may have been, delivered.',
  }),
})

const replayed = Type.Object(
  {
    ok: Type.Literal(true),
    requestId: id,
    replayOf: id,
    outcome: Type.Enum(requestOutcomes),
    status: Type.Integer({ description: 'The HTTP status that a sender would have been answered.' }),
    actions: Type.Array(
      Type.Object({
        kind: Type.Enum(['wake', 'agent']),
        id: Type.String({ description: 'The event of a wake, or the run.' }),
        ...optional({
          became: Type.Enum(['joined', 'busy', 'duplicate'], {
            description: 'Absent for a run or an event of its own.',
          }),
          duplicateOf: id,
        }),
      }),
    ),
    ...optional({
      code: Type.String({ description: 'The error code, where it failed again.' }),
      reason: Type.String({ description: 'Why it ended so, or why its reply is not delivered.' }),
      mapping: Type.String({ description: 'The id of the mapping that decided.' }),
    }),
  },
  { $id: 'Replayed' },
)

const jobWithFailures = Type.Object(
  {
    ...job.properties,
    failures: Type.Array(jobItem, { description: 'The newest 20 that failed or were skipped.' }),
  },
  { $id: 'ReplayJob' },
)

export const replayRoutes = {
  readRequestBody: {
    method: 'GET',
    path: '/requests/:id/body',
    needs: 'read',
    needsFor: { raw: 'operate' },
    summary: 'Shows the body of a request without known secrets.',
    query: optional({
      raw: Type.Boolean({ description: 'True to return the unchanged bytes, which is logged.' }),
    }),
    answers: {
      200: Type.Unknown({
        description: 'The body, never with the content type of its sender.',
        contentMediaType: 'application/octet-stream',
      }),
    },
  },
  replayRequest: {
    method: 'POST',
    path: '/requests/:id/replay',
    needs: 'operate',
    summary: 'Does a request again with the mappings of now.',
    body: Type.Object(
      {
        ...terms,
        ...optional({
          payload: Type.Unknown({
            description: 'The body in the place of its own: a text as it is, or an object or a list as JSON.',
          }),
          generation: Type.Integer({
            description: 'With `dryRun`: the generation that decides, by its number on this node.',
            minimum: 1,
          }),
          generationDigest: Type.String({
            description: 'With `dryRun`: the generation that decides, by the beginning of its digest.',
            pattern: '^[0-9a-f]{8,64}$',
            expects: 'at least the first 8 digits of a digest',
          }),
          callOut: Type.Boolean({ description: 'With `dryRun`: whether transforms may use the network.' }),
        }),
      },
      { additionalProperties: false },
    ),
    maxBodyBytes: maxEditedBytes,
    answers: { 200: Type.Union([replayed, dryRun]) },
  },
  replayRequests: {
    method: 'POST',
    path: '/requests/replay',
    needs: 'operate',
    summary: 'Begins a job that does many requests again, each once.',
    body: Type.Object(
      {
        ...terms,
        filter: Type.Object(requestFilters, {
          additionalProperties: false,
          description: 'Which requests. At least one filter is needed.',
        }),
        ...optional({
          key: boundedText('An order with the key of an earlier one is answered with its job.', 100),
        }),
      },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object({ ok: Type.Literal(true), total: Type.Integer(), sample: Type.Array(requestItem) }),
      202: Type.Object({ ok: Type.Literal(true), job: id, total: Type.Integer() }),
    },
  },
  forgetRequests: {
    method: 'POST',
    path: '/requests/forget',
    needs: 'operate',
    summary:
      'Erases the bodies, headers and texts of requests and of their replays, and keeps their records.',
    body: Type.Object(
      optional({
        ids: Type.Array(id, { minItems: 1, maxItems: 500 }),
        filter: Type.Object(requestFilters, {
          additionalProperties: false,
          description: 'Which requests. At least one filter is needed.',
        }),
        dryRun: Type.Boolean({
          description: 'True to forget nothing and return the number.',
        }),
      }),
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Union([
        Type.Object({
          ok: Type.Literal(true),
          forgotten: Type.Integer(),
          refused: Type.Array(Type.Object({ id, reason: Type.String() }), {
            description: 'The first 500 of them.',
          }),
        }),
        Type.Object({ ok: Type.Literal(true), total: Type.Integer() }),
      ]),
    },
  },
  listJobs: {
    method: 'GET',
    path: '/jobs',
    needs: 'read',
    summary: 'Lists replay jobs, the newest first.',
    query: { ...pageQuery, ...optional({ state: Type.Enum(['running', 'done', 'cancelled']) }) },
    answers: { 200: pageOf(job) },
  },
  readJob: {
    method: 'GET',
    path: '/jobs/:id',
    needs: 'read',
    summary: 'Shows how far a replay job is.',
    answers: { 200: jobWithFailures },
  },
  cancelJob: {
    method: 'POST',
    path: '/jobs/:id/cancel',
    needs: 'operate',
    summary: 'Ends a replay job; what was replayed stays.',
    answers: { 200: jobWithFailures },
  },
} satisfies Routes
