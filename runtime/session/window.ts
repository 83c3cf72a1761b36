/** Selects the turns of a history that fit: whole turns only, the newest first, and a summary before all others. */

import type { Id, SessionMessage } from '../store/port.ts'

export interface HistoryLimits {
  /** Maximum length of the messages' texts, in UTF-16 units. */
  readonly maxCharacters: number
  readonly maxMessages: number
}

/** One question with its answer, or a summary of older ones. */
export interface PastTurn {
  readonly id: Id
  readonly messages: readonly SessionMessage[]
}

/**
 * Groups messages by turn, oldest first. Messages before the first question belong to a turn that the store cut off and
 * are left out: an answer without its question is of no use to a model, and some vendors refuse it.
 */
export function turnsOf(messages: readonly SessionMessage[]): PastTurn[] {
  const first = messages.findIndex(({ role }) => role !== 'assistant')
  const turns: { id: Id; messages: SessionMessage[] }[] = []
  for (const message of first < 0 ? [] : messages.slice(first)) {
    const last = turns.at(-1)
    if (last?.id === message.turn) last.messages.push(message)
    else turns.push({ id: message.turn, messages: [message] })
  }
  return turns
}

export function isSummary(turn: PastTurn | undefined): boolean {
  return turn?.messages[0]?.role === 'summary'
}

export function doFit(turns: readonly PastTurn[], limits: HistoryLimits): boolean {
  return firstOfNewest(turns, limits) === 0
}

/** Returns the index of the oldest turn that fits together with all newer ones; `turns.length` if the last one does not. */
export function firstOfNewest(turns: readonly PastTurn[], limits: HistoryLimits): number {
  const newestFirst = turns.toReversed()
  return turns.length - countOfFirst(newestFirst, limits)
}

/** Returns how many turns from the beginning fit together. */
export function countOfFirst(turns: readonly PastTurn[], limits: HistoryLimits): number {
  let { maxCharacters: characters, maxMessages: messages } = limits
  const over = turns.findIndex((turn) => {
    characters -= charactersOf(turn)
    messages -= turn.messages.length
    return characters < 0 || messages < 0
  })
  return over < 0 ? turns.length : over
}

/** Returns the summary that comes first, if any, and the newest turns that fit beside it. */
export function newestWithSummary(turns: readonly PastTurn[], limits: HistoryLimits): readonly PastTurn[] {
  const [summary, ...others] = turns
  if (summary === undefined || !isSummary(summary) || !doFit([summary], limits)) {
    return turns.slice(firstOfNewest(turns, limits))
  }
  const room = {
    maxCharacters: limits.maxCharacters - charactersOf(summary),
    maxMessages: limits.maxMessages - summary.messages.length,
  }
  return [summary, ...others.slice(firstOfNewest(others, room))]
}

function charactersOf(turn: PastTurn): number {
  return turn.messages.reduce((sum, { text }) => sum + text.length, 0)
}
