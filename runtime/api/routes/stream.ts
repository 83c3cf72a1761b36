/** Declares the stream of what happens, and the form of its frames. */

import { deliveryStates, eventStates, runStages, runStates } from '../../store/records.ts'
import type { Routes } from './declaration.ts'
import { requestItem } from './records.ts'
import { content, flag, id, integer, list, object, oneOf, optional, time } from './schema.ts'

/** The data of an event `frame`. */
export const streamFrame = object({
  at: time,
  requests: list(requestItem, { description: 'The newest of those that came or changed, the oldest first.' }),
  skipped: integer('How many more requests came or changed.'),
  runs: list(object({ id, state: oneOf(runStates), ...optional({ stage: oneOf(runStages) }) })),
  events: list(object({ id, state: oneOf(eventStates) })),
  deliveries: list(object({ id, state: oneOf(deliveryStates) })),
  ...optional({
    partial: flag('Whether there are more runs, events or deliveries than are named.'),
    issues: flag('Whether open problems came, changed or ended.'),
    generation: integer('What went live.'),
    reload: flag('Whether the files were read again, with any result.'),
  }),
})

export const streamRoutes = {
  followStream: {
    method: 'GET',
    path: '/stream',
    needs: 'read',
    summary: 'Follows what happens, as server-sent events.',
    answers: {
      200: content(
        'text/event-stream',
        'Events `hello` (the first one), `frame` (what came and changed, at most four a second) and `gap` (where `Last-Event-ID` is too old: read the lists again). Each has an id to go on from.',
      ),
    },
  },
} satisfies Routes
