/** Owns what is known of groups that became supergroups, and so have another number. */

import { BoundedMap, type PluginLog } from '@reveille/kit'

export interface Moves {
  /** Where the chat is now. */
  of(chatId: number | string): number | string
  /** Tells the operator, who should write the new number into the configuration. */
  remember(chatId: number | string, movedTo: number): void
}

/** More groups than one gateway writes to. */
const mostKnown = 1000

export function createMoves(log: PluginLog): Moves {
  const moved = new BoundedMap<number | string, number>(mostKnown)
  return {
    of: (chatId) => moved.get(chatId) ?? chatId,
    remember(chatId, movedTo) {
      moved.set(chatId, movedTo)
      log.warn('telegram-group-moved', { chat: chatId, movedTo, hint: `Write to ${movedTo} instead.` })
    },
  }
}
