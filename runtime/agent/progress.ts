/** Shows how far the turns of this process have got. It is in memory, because a turn that is over has a record. */

import type { Progress } from '@reveille/kit'

export interface TurnProgress {
  /** The end of the text so far. At most {@link maxTextLength} UTF-16 units. */
  readonly text: string
  /** The number of UTF-16 units of text so far. */
  readonly characters: number
  /** The runner's last activity, in a few words. */
  readonly note?: string
  /** When the turn began or its runner reported last. Milliseconds since the Unix epoch. */
  readonly at: number
}

export type ProgressBoard = ReturnType<typeof createProgressBoard>

/** UTF-16 units. */
export const maxTextLength = 2000
/** UTF-16 units. */
const maxNoteLength = 200

/** The board holds one entry for each turn under way, so `concurrency` bounds it. */
export function createProgressBoard({ now = Date.now }: { now?: () => number } = {}) {
  const turns = new Map<string, TurnProgress>()

  return {
    /** Begins a turn of the run, with no progress yet. */
    start: (runId: string) => void turns.set(runId, { text: '', characters: 0, at: now() }),
    /** Adds progress. Ignores runs without a turn under way, and values that are no text. */
    note(runId: string, { text, note }: Progress) {
      const before = turns.get(runId)
      if (!before) return
      const said = typeof text === 'string' ? text : ''
      turns.set(runId, {
        ...before,
        text: endOf(before.text + said),
        characters: before.characters + said.length,
        ...(typeof note === 'string' ? { note: note.slice(0, maxNoteLength) } : {}),
        at: now(),
      })
    },
    /** Returns undefined if no turn of the run is under way. */
    ofRun: (runId: string): TurnProgress | undefined => turns.get(runId),
    end: (runId: string) => void turns.delete(runId),
  }
}

/** Returns the end of the text. It never begins with the second half of a character. */
function endOf(text: string): string {
  const end = text.slice(-maxTextLength)
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}
