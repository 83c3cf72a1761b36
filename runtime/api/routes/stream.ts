/** Declares the stream of what happens, and the form of its frames. */

import { Type } from '@reveille/engine/schema'
import { requestItem } from '../../store/record-schemas.ts'
import { deliveryStates, eventStates, runStages, runStates } from '../../store/records.ts'
import type { Routes } from './declaration.ts'
import { id, optional, time } from './schema.ts'

/** The data of an event `frame`. */
export const streamFrame = Type.Object({
  at: time,
  requests: Type.Array(requestItem, {
    description: 'The newest of those that came or changed, the oldest first.',
  }),
  skipped: Type.Integer({ description: 'Number of further requests that came or changed.' }),
  runs: Type.Array(
    Type.Object({ id, state: Type.Enum(runStates), ...optional({ stage: Type.Enum(runStages) }) }),
  ),
  events: Type.Array(Type.Object({ id, state: Type.Enum(eventStates) })),
  deliveries: Type.Array(Type.Object({ id, state: Type.Enum(deliveryStates) })),
  ...optional({
    partial: Type.Boolean({
      description: 'True if there are more runs, events or deliveries than are named.',
    }),
    issues: Type.Boolean({ description: 'True if issues were opened, changed or resolved.' }),
    generation: Type.Integer({ description: 'The generation that went live.' }),
    reload: Type.Boolean({ description: 'True if the files were read again, with any result.' }),
  }),
})

export const streamRoutes = {
  followStream: {
    method: 'GET',
    path: '/stream',
    needs: 'read',
    summary: 'Follows what happens, as server-sent events.',
    answers: {
      200: Type.Unknown({
        description:
          'Events `hello` (the first one), `frame` (what came and changed, at most four a second) and `gap` (where `Last-Event-ID` is too old: read the lists again). Each has an id to go on from.',
        contentMediaType: 'text/event-stream',
      }),
    },
  },
} satisfies Routes
