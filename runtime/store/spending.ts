/** How costs are counted, and the forms in which they are read. */

import { dayMs } from './day.ts'
import type { Cost, CostGroup, Spent, SpentToday } from './records.ts'

/** The scope of all runs together. No policy has this name. */
export const allRuns = ''

/** Sums stop here: a larger number could not be read again. */
export const mostCounted = Number.MAX_SAFE_INTEGER

/** How long costs are kept, so that a year can be compared with the one before. */
export const costsKeptMs = 400 * dayMs

export const nothingSpent: Spent = { runs: 0, tokens: 0, usd: 0, reported: false }

/** Money is counted in millionths of a dollar, because sums of whole numbers are exact. */
export function microsOf(usd: number): number {
  return Math.min(Math.round(usd * 1_000_000), mostCounted)
}

export interface SpentRow {
  readonly runs: number
  readonly tokens: number
  /** 1 once the main session was notified that it is spent. */
  readonly reported: number
  readonly micros: number
}

export function spentOf({ runs, tokens, reported, micros }: SpentRow): Spent {
  return { runs, tokens, usd: micros / 1_000_000, reported: reported === 1 }
}

/** `rows` are those of the day, in the order of their scopes. */
export function spentToday(
  day: string,
  rows: readonly (SpentRow & { readonly scope: string })[],
): SpentToday {
  const byScope = new Map(rows.map((row) => [row.scope, spentOf(row)]))
  const total = byScope.get(allRuns) ?? nothingSpent
  byScope.delete(allRuns)
  return { day, all: total, budgets: Object.fromEntries(byScope) }
}

export type CostRow = Omit<Cost, 'usd'> & { readonly micros: number }

export function costOf({ micros, ...row }: CostRow): Cost {
  return { ...row, usd: micros / 1_000_000 }
}

/** SQL for the order of the groups. */
export const costOrders: Readonly<Record<CostGroup, string>> = {
  day: 'name DESC',
  mapping: 'micros DESC, tokens DESC, name',
  model: 'micros DESC, tokens DESC, name',
  session: 'micros DESC, tokens DESC, name',
}
