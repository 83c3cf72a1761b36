/** Declares the routes of what requests cause: runs, events, deliveries and sessions. */

import { Type } from '@reveille/engine/schema'
import { delivery, event, route, runItem, sessionItem } from '../../store/record-schemas.ts'
import { deliveryStates, eventStates, runStages, runStates } from '../../store/records.ts'
import { pageOf, pageQuery, type Routes } from './declaration.ts'
import { run, session } from './records.ts'
import { instant } from './requests.ts'
import { boundedText, id, optional, time } from './schema.ts'

/** Far more than a chat message, and far less than a channel would need hours for. Bytes of UTF-8. */
const maxTextBytes = 65_536
const maxNameBytes = 1_024

const address = {
  channel: boundedText('The name of a channel.', maxNameBytes),
  ...optional({ to: boundedText('The recipient. Default: that of the channel.', maxNameBytes) }),
}

const orderedRun = Type.Object({
  ok: Type.Literal(true),
  runId: id,
  state: Type.Enum(runStates),
  stage: Type.Enum(runStages),
  ...optional({ cancelRequestedAt: time }),
})

/** The result of an order about everything that is parked. */
const orderedAll = Type.Object({
  ok: Type.Literal(true),
  done: Type.Integer({ description: 'Number of records for which it was carried out.' }),
  refused: Type.Array(Type.Object({ id, reason: Type.String() }), {
    description: 'The first 500 records for which it was not.',
  }),
})

export const workRoutes = {
  listRuns: {
    method: 'GET',
    path: '/runs',
    needs: 'read',
    summary: 'Lists runs, the newest first.',
    query: {
      ...pageQuery,
      ...optional({
        state: Type.Enum(runStates),
        sessionKey: Type.String({ description: 'Only those of this session.', minLength: 1 }),
        kind: Type.Enum(['run', 'heartbeat']),
        endpoint: boundedText('Only those of requests to this endpoint.', 1_024),
      }),
    },
    answers: { 200: pageOf(runItem) },
  },
  readRun: {
    method: 'GET',
    path: '/runs/:id',
    needs: 'read',
    summary: 'Shows one run with its summary and its deliveries.',
    answers: { 200: run },
  },
  cancelRun: {
    method: 'POST',
    path: '/runs/:id/cancel',
    needs: 'operate',
    summary: 'Ends a run that is queued, running or parked.',
    answers: { 200: orderedRun },
  },
  resumeRun: {
    method: 'POST',
    path: '/runs/:id/resume',
    needs: 'operate',
    summary: 'Queues a parked run again.',
    answers: { 200: orderedRun },
  },
  resumeRuns: {
    method: 'POST',
    path: '/runs/resume',
    needs: 'operate',
    summary: 'Queues all parked runs again, the oldest first.',
    body: Type.Object(
      optional({ code: boundedText('Only those that were parked with this code: `BUDGET`.', maxNameBytes) }),
      { additionalProperties: false },
    ),
    answers: { 200: orderedAll },
  },
  retryRun: {
    method: 'POST',
    path: '/runs/:id/retry',
    needs: 'operate',
    summary: 'Performs a run that failed or timed out again, from its stored prompt.',
    answers: { 200: orderedRun },
  },
  retryRuns: {
    method: 'POST',
    path: '/runs/retry',
    needs: 'operate',
    summary:
      'Performs runs that failed or timed out again, the oldest first, each once: those of a filter, or `all`. Held runners are tried at once.',
    body: Type.Object(
      optional({
        state: Type.Enum(['failed', 'timed-out']),
        since: instant('Only those that ended since then.'),
        until: instant('Only those that ended before.'),
        code: boundedText('Only those that failed with this code: `exit`.', 200),
        endpoint: boundedText('Only those of requests to this endpoint.', 1_024),
        mapping: boundedText('Only those of this mapping.', 1_024),
        runner: boundedText('Only those of this runner.', maxNameBytes),
        all: Type.Literal(true),
        dryRun: Type.Boolean({
          description: 'True to retry nothing; `done` is the number of runs that would be retried.',
        }),
      }),
      { additionalProperties: false },
    ),
    answers: { 200: orderedAll },
  },
  listEvents: {
    method: 'GET',
    path: '/events',
    needs: 'read',
    summary: 'Lists events of the main session, the newest first.',
    query: { ...pageQuery, ...optional({ state: Type.Enum(eventStates) }) },
    answers: { 200: pageOf(event) },
  },
  readEvent: {
    method: 'GET',
    path: '/events/:id',
    needs: 'read',
    summary: 'Shows one event.',
    answers: { 200: event },
  },
  listDeliveries: {
    method: 'GET',
    path: '/deliveries',
    needs: 'read',
    summary: 'Lists deliveries, the newest first.',
    query: {
      ...pageQuery,
      ...optional({
        state: Type.Enum(deliveryStates),
        channel: Type.String({ description: 'Only those to this channel.', minLength: 1 }),
      }),
    },
    answers: { 200: pageOf(delivery) },
  },
  sendDelivery: {
    method: 'POST',
    path: '/deliveries',
    needs: 'operate',
    summary: 'Sends a text.',
    body: Type.Object(
      { ...address, text: boundedText('The text as Markdown.', maxTextBytes) },
      { additionalProperties: false },
    ),
    // JSON may need six bytes for one.
    maxBodyBytes: 6 * (maxTextBytes + 2 * maxNameBytes) + 1_024,
    answers: {
      202: Type.Object({
        ok: Type.Literal(true),
        deliveryId: id,
        channel: Type.String(),
        ...optional({ to: Type.String() }),
      }),
    },
  },
  readDelivery: {
    method: 'GET',
    path: '/deliveries/:id',
    needs: 'read',
    summary: 'Shows one delivery with its receipts.',
    answers: { 200: delivery },
  },
  replayDelivery: {
    method: 'POST',
    path: '/deliveries/:id/replay',
    needs: 'operate',
    summary: 'Sends a parked delivery again, from the first message without a receipt.',
    answers: {
      200: Type.Object({
        ok: Type.Literal(true),
        deliveryId: id,
        state: Type.Enum(deliveryStates),
        channel: Type.String(),
        ...optional({ to: Type.String() }),
      }),
    },
  },
  replayDeliveries: {
    method: 'POST',
    path: '/deliveries/replay',
    needs: 'operate',
    summary: 'Sends all parked deliveries again, the oldest first.',
    body: Type.Object(optional({ channel: boundedText('Only those to this channel.', maxNameBytes) }), {
      additionalProperties: false,
    }),
    answers: { 200: orderedAll },
  },
  listSessions: {
    method: 'GET',
    path: '/sessions',
    needs: 'read',
    summary: 'Lists sessions, the one with the newest turn first.',
    query: pageQuery,
    answers: { 200: pageOf(sessionItem) },
  },
  readSession: {
    method: 'GET',
    path: '/sessions/:key',
    needs: 'read',
    summary: 'Shows the newest messages of a session.',
    answers: { 200: session },
  },
  readRoute: {
    method: 'GET',
    path: '/route',
    needs: 'read',
    summary: 'Shows where replies to `last` go.',
    answers: {
      200: Type.Object({
        route: Type.Union([route, Type.Null()]),
        ...optional({
          standIn: route,
          by: Type.String({ description: 'The name of the token whose holder set it.' }),
        }),
      }),
    },
  },
  setRoute: {
    method: 'PUT',
    path: '/route',
    needs: 'operate',
    summary: 'Sets where replies to `last` go.',
    body: Type.Object(address, { additionalProperties: false }),
    answers: { 200: Type.Object({ route }) },
  },
} satisfies Routes
