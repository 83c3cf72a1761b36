/** Makes the events that dispatch posts to the main session, and the heartbeat that shows them. */

import { mainSession } from '../session/main.ts'
import type { EventRecord, NewTask, RunRecord } from '../store/port.ts'
import { heartbeatBurstMs, heartbeatTask } from '../store/tasks.ts'
import type { DispatchOptions } from './options.ts'

/** Returns the heartbeat that an event needs at once: if it asked for `now`, or if the runner only passes events on. */
export function heartbeatFor(
  event: Pick<EventRecord, 'mode' | 'createdAt'>,
  { current, relays }: Pick<DispatchOptions, 'current' | 'relays'>,
): readonly NewTask[] {
  const { runner } = current().snapshot.settings.agents.defaults
  const isDue = event.mode === 'now' || relays?.(runner) === true
  return isDue ? [heartbeatTask(event.createdAt + heartbeatBurstMs)] : []
}

/** What an event of the gateway is about: a run, or all of them. */
type Subject = Pick<RunRecord, 'generation'> &
  Partial<Pick<RunRecord, 'id' | 'requestId' | 'endpoint' | 'mapping'>>

/** Makes an event in the gateway's own words. It holds nothing that a sender wrote, and needs no boundary. */
export function ownEvent(run: Subject, text: string, facts: { id: string; at: number }): EventRecord {
  return {
    id: facts.id,
    session: mainSession,
    state: 'pending',
    text,
    prompt: text,
    mode: 'next-heartbeat',
    trusted: true,
    origin: { requestId: run.requestId, runId: run.id },
    endpoint: run.endpoint,
    mapping: run.mapping,
    generation: run.generation,
    createdAt: facts.at,
  }
}
