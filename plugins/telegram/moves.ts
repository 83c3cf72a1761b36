/** Owns what is known of groups that became supergroups, and so have another number. */

import type { PluginLog } from '@reveille/kit'

export interface Moves {
  /** Where the chat is now. */
  of(chatId: number | string): number | string
  /** Tells the operator, who should write the new number into the configuration. */
  remember(chatId: number | string, movedTo: number): void
}

export function createMoves(log: PluginLog): Moves {
  const moved = new Map<number | string, number>()
  return {
    of: (chatId) => moved.get(chatId) ?? chatId,
    remember(chatId, movedTo) {
      moved.set(chatId, movedTo)
      log.warn('telegram-group-moved', { chat: chatId, movedTo, hint: `Write to ${movedTo} instead.` })
    },
  }
}
