/** Makes the heartbeat that shows what dispatch posts to the main session. */

import type { EventRecord, NewTask } from '../store/port.ts'
import { heartbeatTask, heartbeatWindowMs } from '../store/task-keys.ts'
import type { DispatchOptions } from './options.ts'

/** Returns the heartbeat that an event needs at once: if it asked for `now`, or if the runner only passes events on. */
export function heartbeatFor(
  event: Pick<EventRecord, 'mode' | 'createdAt'>,
  { current, relays }: Pick<DispatchOptions, 'current' | 'relays'>,
): readonly NewTask[] {
  const { runner } = current().snapshot.settings.agents.defaults
  const isDue = event.mode === 'now' || relays?.(runner) === true
  return isDue ? [heartbeatTask(event.createdAt + heartbeatWindowMs)] : []
}
