/** Owns the changes of one batch, as flat values; empty while nobody listens. */

import type { Change } from '../port.ts'

export type NoteChange = (type: Change['type'], id: string, state: string, stage?: string) => void

export interface ChangeList {
  readonly note: NoteChange
  listen(on: boolean): void
  /** What was noted since the last call, four values a change. */
  take(): (string | undefined)[]
  /** A place to go back to when a transaction, or an entry in it, is undone. */
  mark(): number
  undo(mark: number): void
}

export function createChangeList(): ChangeList {
  let listening = false
  let list: (string | undefined)[] = []
  return {
    note(type, id, state, stage) {
      if (listening) list.push(type, id, state, stage)
    },
    listen(on) {
      listening = on
    },
    take() {
      if (list.length === 0) return list
      const taken = list
      list = []
      return taken
    },
    mark: () => list.length,
    undo(mark) {
      list.length = mark
    },
  }
}
