/** Declares the routes that show the body of a request, do requests again, and forget them. */

import { requestOutcomes } from '../../store/records.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { dryRun } from './dry-runs.ts'
import { requestItem } from './records.ts'
import { requestFilters } from './requests.ts'
import {
  anyObject,
  anything,
  closedObject,
  content,
  either,
  exactly,
  flag,
  givenText,
  id,
  integer,
  list,
  named,
  object,
  oneOf,
  optional,
  text,
  time,
} from './schema.ts'

/** A body that an operator has edited. JSON may need six bytes for one. */
const maxEditedBytes = 64 * 1024 * 1024

const terms = optional({
  dryRun: flag('Whether nothing is done, and the answer says what would be.'),
  deliverAgain: flag('Whether replies are delivered although an earlier one was, or may have been.'),
})

const replayed = named(
  'Replayed',
  object({
    ok: exactly(true),
    requestId: id,
    replayOf: id,
    outcome: oneOf(requestOutcomes),
    status: integer('The HTTP status that a sender would have been answered.'),
    actions: list(
      object({
        kind: oneOf(['wake', 'agent']),
        id: text('The event of a wake, or the run.'),
        ...optional({
          became: oneOf(['joined', 'busy', 'duplicate'], 'Absent for a run or an event of its own.'),
          duplicateOf: id,
        }),
      }),
    ),
    ...optional({
      code: text('The error code, where it failed again.'),
      reason: text('Why it ended so, or why its reply is not delivered.'),
      mapping: text('The id of the mapping that decided.'),
    }),
  }),
)

const jobFields = {
  id,
  filter: anyObject('Which requests were chosen.'),
  options: anyObject('How they are replayed.'),
  state: oneOf(['running', 'done', 'cancelled']),
  total: integer(),
  done: integer('How many were accepted.'),
  failed: integer('How many failed again.'),
  skipped: integer('How many could not be replayed, or came to nothing again.'),
  createdAt: time,
  ...optional({ endedAt: time, by: text('The name of the token whose holder began it.') }),
}

const job = named(
  'ReplayJob',
  object({
    ...jobFields,
    failures: list(
      object({
        request: id,
        state: oneOf(['open', 'done', 'failed', 'skipped']),
        ...optional({ replay: id, reason: text('Why, in one sentence.') }),
      }),
      { description: 'The newest 20 that failed or were skipped.' },
    ),
  }),
)

export const replayRoutes = {
  readRequestBody: {
    method: 'GET',
    path: '/requests/:id/body',
    needs: 'read',
    needsFor: { raw: 'operate' },
    summary: 'Shows the body of a request without known secrets.',
    query: optional({ raw: flag('Whether the bytes are answered as they came, which is logged.') }),
    answers: {
      200: content('application/octet-stream', 'The body, never with the content type of its sender.'),
    },
  },
  replayRequest: {
    method: 'POST',
    path: '/requests/:id/replay',
    needs: 'operate',
    summary: 'Does a request again with the mappings of now.',
    body: closedObject({
      ...terms,
      ...optional({
        payload: anything(
          'The body in the place of its own: a text as it is, or an object or a list as JSON.',
        ),
        generation: integer('With `dryRun`: the generation that decides, by its number on this node.', {
          minimum: 1,
        }),
        generationDigest: text('With `dryRun`: the generation that decides, by how its digest begins.', {
          pattern: '^[0-9a-f]{8,64}$',
          expects: 'at least the first 8 digits of a digest',
        }),
        callOut: flag('With `dryRun`: whether transforms may use the network.'),
      }),
    }),
    maxBodyBytes: maxEditedBytes,
    answers: { 200: either(replayed, dryRun) },
  },
  replayRequests: {
    method: 'POST',
    path: '/requests/replay',
    needs: 'operate',
    summary: 'Begins a job that does many requests again, each once.',
    body: closedObject({
      ...terms,
      filter: closedObject(requestFilters, { description: 'Which requests. At least one filter is needed.' }),
      ...optional({
        key: givenText('An order with the key of an earlier one is answered with its job.', 100),
      }),
    }),
    answers: {
      200: object({ ok: exactly(true), total: integer(), sample: list(requestItem) }),
      202: object({ ok: exactly(true), job: id, total: integer() }),
    },
  },
  forgetRequests: {
    method: 'POST',
    path: '/requests/forget',
    needs: 'operate',
    summary:
      'Erases the bodies, headers and texts of requests and of their replays, and keeps their records.',
    body: closedObject(
      optional({
        ids: list(id, { minItems: 1, maxItems: 500 }),
        filter: closedObject(requestFilters, {
          description: 'Which requests. At least one filter is needed.',
        }),
        dryRun: flag('Whether nothing is forgotten, and the answer says how many would be.'),
      }),
    ),
    answers: {
      200: either(
        object({
          ok: exactly(true),
          forgotten: integer(),
          refused: list(object({ id, reason: text() }), { description: 'The first 500 of them.' }),
        }),
        object({ ok: exactly(true), total: integer() }),
      ),
    },
  },
  listJobs: {
    method: 'GET',
    path: '/jobs',
    needs: 'read',
    summary: 'Lists replay jobs, the newest first.',
    query: { ...pageQuery, ...optional({ state: oneOf(['running', 'done', 'cancelled']) }) },
    answers: { 200: pageOf(object(jobFields)) },
  },
  readJob: {
    method: 'GET',
    path: '/jobs/:id',
    needs: 'read',
    summary: 'Shows how far a replay job is.',
    answers: { 200: job },
  },
  cancelJob: {
    method: 'POST',
    path: '/jobs/:id/cancel',
    needs: 'operate',
    summary: 'Ends a replay job; what was replayed stays.',
    answers: { 200: job },
  },
} satisfies Routes
