import type { Turn } from '../runner.ts'

/** Creates the first turn of a run, as a host does, with these changes. */
export function createTurn(more: Partial<Turn> = {}): Turn {
  return {
    runId: 'run-1',
    sessionKey: 'hook:1',
    kind: 'run',
    prompt: 'Look.',
    events: [],
    history: [],
    attempt: 1,
    ...more,
  }
}
