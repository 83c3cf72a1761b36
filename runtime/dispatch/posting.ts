/** Owns what follows from an event that dispatch posts to the main session: whether a heartbeat shows it at once. */

import { mainSession } from '../session/main.ts'
import type { EventRecord, NewTask, RunRecord } from '../store/port.ts'
import { heartbeatBurstMs, heartbeatTask } from '../store/tasks.ts'
import type { DispatchOptions } from './options.ts'

/** A main session whose runner passes events on to somebody who waits for them has no use for a timer. */
export function heartbeatFor(
  event: Pick<EventRecord, 'mode' | 'createdAt'>,
  { current, relays }: Pick<DispatchOptions, 'current' | 'relays'>,
): readonly NewTask[] {
  const { runner } = current().snapshot.settings.agents.defaults
  const isDue = event.mode === 'now' || relays?.(runner) === true
  return isDue ? [heartbeatTask(event.createdAt + heartbeatBurstMs)] : []
}

/** What an event of ours is about: a run, or all of them. */
type Subject = Pick<RunRecord, 'generation'> &
  Partial<Pick<RunRecord, 'id' | 'requestId' | 'endpoint' | 'mapping'>>

/** An event about a run in words of our own: it holds nothing that a sender wrote, and needs no boundary. */
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
