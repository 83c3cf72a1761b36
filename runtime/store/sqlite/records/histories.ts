/**
 * Keeps histories of sessions whose turns follow each other: their texts in the writer's thread, so that a claim does not read
 * again what the settlement before it has read, and their messages in the main thread, so that no turn is parsed twice.
 */

import type { Id, SessionMessage } from '../../port.ts'

/** How many UTF-16 units of JSON are kept in each thread. */
const mostUnits = 1_048_576

export interface KeptTurn {
  readonly turn: Id
  /** JSON of its messages. */
  readonly messages: string
}

export type Histories = ReturnType<typeof createHistories>

/**
 * Keeps the newest turns of some sessions, at most `limit` of each, as they are after the transaction that runs. When it is
 * undone, and when turns are deleted otherwise, `clear` forgets all.
 */
export function createHistories(limit: number, most = mostUnits) {
  const kept = createBounded<readonly KeptTurn[]>(most)

  function keep(session: string, turns: readonly KeptTurn[]): void {
    if (turns.length === 0) return
    const size = turns.reduce((sum, { messages }) => sum + messages.length, 0)
    kept.keep(session, turns, size)
  }

  return {
    /** Returns the kept turns of a session, oldest first, or reads and keeps them. */
    read(session: string, read: (session: string) => readonly KeptTurn[]): readonly KeptTurn[] {
      const turns = kept.take(session) ?? read(session)
      keep(session, turns)
      return turns
    },
    append(session: string, turn: KeptTurn) {
      const turns = kept.take(session)
      if (turns !== undefined) keep(session, newest([...turns, turn], limit))
    },
    /** Turns up to and including `through` were deleted, and the summary came in their place. */
    compact(session: string, through: Id, summary: KeptTurn | undefined) {
      const turns = kept.take(session)
      const index = turns?.findIndex(({ turn }) => turn === through) ?? -1
      if (turns === undefined || index < 0) return
      const left = turns.slice(index + 1)
      keep(session, newest(summary === undefined ? left : [summary, ...left], limit))
    },
    clear: kept.clear,
  }
}

export type ParseHistory = ReturnType<typeof createHistoryParser>

/**
 * Returns a function that parses the newest `limit` messages of a session. What it parsed for the session before is not parsed
 * again: the texts are compared, so it cannot be out of date. Its messages are shared, and must not be changed.
 */
export function createHistoryParser(limit: number, most = mostUnits) {
  const kept = createBounded<{ readonly texts: readonly string[]; readonly messages: SessionMessage[][] }>(
    most,
  )

  return (session: string, texts: readonly string[]): SessionMessage[] => {
    if (texts.length === 0) return []
    const before = kept.take(session)
    let next = 0
    const messages = texts.map((text): SessionMessage[] => {
      const index = before?.texts.indexOf(text, next) ?? -1
      if (index < 0) return JSON.parse(text)
      next = index + 1
      return before?.messages[index] as SessionMessage[]
    })
    const size = texts.reduce((sum, text) => sum + text.length, 0)
    kept.keep(session, { texts, messages }, size)
    return newest(messages.flat(), limit)
  }
}

/** Keeps what was used last, as far as it fits. */
function createBounded<Value>(most: number) {
  const all = new Map<string, { readonly value: Value; readonly size: number }>()
  let total = 0

  function take(key: string): Value | undefined {
    const found = all.get(key)
    if (found === undefined) return undefined
    all.delete(key)
    total -= found.size
    return found.value
  }

  return {
    /** Returns what is kept under the key, and no longer keeps it. */
    take,
    keep(key: string, value: Value, size: number) {
      if (size > most) return
      all.set(key, { value, size })
      total += size
      for (const oldest of all.keys()) {
        if (total <= most) return
        take(oldest)
      }
    },
    clear() {
      all.clear()
      total = 0
    },
  }
}

function newest<Item>(items: Item[], limit: number): Item[] {
  return items.slice(Math.max(0, items.length - limit))
}
