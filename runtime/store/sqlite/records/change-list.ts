/** Collects the changes of one batch as flat values, while there is a listener. */

import type { Change } from '../../port.ts'

export type NoteChange = (type: Change['type'], id: string, state: string, stage?: string) => void

export interface ChangeList {
  readonly note: NoteChange
  listen(on: boolean): void
  /** Returns what was noted since the last call, four values for each change. */
  take(): (string | undefined)[]
  /** Returns the place to which `undo` goes back when a transaction, or an entry in it, is undone. */
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
