/** Owns what becomes of a conversation that has grown too long: which turns are shown, which go, which are summarised. */

import { closeFence } from '@reveille/engine'
import { cut } from '../cut.ts'
import {
  countOfFirst,
  doFit,
  firstOfNewest,
  type HistoryLimits,
  isSummary,
  newestWithSummary,
  type PastTurn,
} from './window.ts'

/** Of a summary, unless the limits of the history ask for a shorter one. UTF-16 units. */
const longestSummaryMessage = 8000

export type HistoryPlan =
  /** It fits. */
  | { readonly kind: 'whole'; readonly shown: readonly PastTurn[] }
  /** `gone`: the oldest turns, which nobody is shown again. */
  | { readonly kind: 'drop'; readonly shown: readonly PastTurn[]; readonly gone: readonly PastTurn[] }
  | {
      readonly kind: 'summarise'
      /** The oldest turns, as the summary's writer is shown them; an earlier summary is the first of them. */
      readonly older: readonly PastTurn[]
      /** Those after them, once a summary stands in the place of `older`. */
      readonly shownWith: (summary: PastTurn) => readonly PastTurn[]
      /** Where there is no summary to be had. */
      readonly shownWithout: readonly PastTurn[]
    }

export function planHistory(
  turns: readonly PastTurn[],
  limits: HistoryLimits,
  compaction: 'drop' | 'summarise',
): HistoryPlan {
  if (doFit(turns, limits)) return { kind: 'whole', shown: turns }
  if (compaction === 'drop') {
    const first = firstOfNewest(turns, limits)
    return { kind: 'drop', shown: turns.slice(first), gone: turns.slice(0, first) }
  }
  const older = olderTurns(turns, limits)
  return {
    kind: 'summarise',
    older,
    shownWith: (summary) => newestWithSummary([summary, ...turns.slice(older.length)], limits),
    shownWithout: newestWithSummary(turns, limits),
  }
}

/** A quarter of the history at most, so that there is room for turns beside it. */
export function summaryLimit({ maxCharacters }: HistoryLimits): number {
  return Math.min(longestSummaryMessage, Math.floor(maxCharacters / 4))
}

/**
 * What is left is about half of the limits, so that there is not a summary to write with every turn; a newest turn
 * that is longer than that by itself stays, if it can. Never more at one time than a turn may be shown: after an
 * outage, or under lower limits, several turns take it in pieces.
 */
function olderTurns(turns: readonly PastTurn[], limits: HistoryLimits): readonly PastTurn[] {
  const half = { maxCharacters: limits.maxCharacters / 2, maxMessages: limits.maxMessages / 2 }
  const besideSummary = {
    maxCharacters: limits.maxCharacters - summaryLimit(limits),
    maxMessages: limits.maxMessages - 1,
  }
  const kept = Math.max(
    turns.length - firstOfNewest(turns, half),
    doFit(turns.slice(-1), besideSummary) ? 1 : 0,
  )
  const older = turns.slice(0, turns.length - kept)
  if (doFit(older, limits)) return older
  // A turn that is too long to be shown with others is better summarised in part than not at all.
  const shorter = older.map((turn) => shortened(turn, half.maxCharacters))
  // A summary alone is not worth another one.
  const least = isSummary(older[0]) ? 2 : 1
  return shorter.slice(0, Math.max(countOfFirst(shorter, limits), least))
}

function shortened(turn: PastTurn, limit: number): PastTurn {
  if (doFit([turn], { maxCharacters: limit, maxMessages: turn.messages.length })) return turn
  const each = Math.floor(limit / turn.messages.length)
  return {
    ...turn,
    messages: turn.messages.map((message) => ({ ...message, text: closeFence(cut(message.text, each)) })),
  }
}
