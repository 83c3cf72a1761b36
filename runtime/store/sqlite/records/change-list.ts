/** Collects the changes of one batch as flat values, while there is a listener. */

import type { Change } from '../../port.ts'

export type NoteChange = (type: Change['type'], id: string, state: string, stage?: string) => void

export function createChangeList() {
  let listening = false
  let list: (string | undefined)[] = []
  return {
    note(type: Change['type'], id: string, state: string, stage?: string) {
      if (listening) list.push(type, id, state, stage)
    },
    listen(on: boolean) {
      listening = on
    },
    /** Returns what was noted since the last call, four values for each change. */
    take(): (string | undefined)[] {
      if (list.length === 0) return list
      const taken = list
      list = []
      return taken
    },
    /** Returns the place to which `undo` goes back when a transaction, or an entry in it, is undone. */
    mark: () => list.length,
    undo(mark: number) {
      list.length = mark
    },
  }
}
