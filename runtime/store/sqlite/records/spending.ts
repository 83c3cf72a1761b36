/** Adds up what runs have cost, by day (UTC) and scope. */

import type { DatabaseSync } from 'node:sqlite'
import { dayOf } from '../../day.ts'
import type { Effects, Spent, SpentToday, Work } from '../../port.ts'

/** The scope of all runs together. No policy has this name. */
const all = ''

/** Sums stop here: a larger number could not be read again. */
const most = Number.MAX_SAFE_INTEGER

const nothing: Spent = { runs: 0, tokens: 0, reported: false }

/** Adds to what was spent. It is not idempotent, so it belongs into a transaction under a lease token. */
export function createSpending(db: DatabaseSync) {
  const upsert = db.prepare(
    `INSERT INTO spent VALUES (?, ?, ?, ?, ?) ON CONFLICT (day, scope) DO UPDATE
     SET runs = min(runs + excluded.runs, ${most}), tokens = min(tokens + excluded.tokens, ${most}),
         told = max(told, excluded.told)`,
  )
  return ({ day, budget, runs, tokens, reported = [] }: NonNullable<Effects['spend']>) => {
    upsert.run(day, all, runs, tokens, reported.includes('all') ? 1 : 0)
    if (budget !== undefined) upsert.run(day, budget, runs, tokens, reported.includes('budget') ? 1 : 0)
  }
}

/** Reads what was spent on the day of `now`: by all runs and, if one is named, by a policy's budget. */
export function createSpentReader(db: DatabaseSync) {
  const select = db.prepare('SELECT runs, tokens, told FROM spent WHERE day = ? AND scope = ?')

  function read(day: string, scope: string): Spent {
    const row = select.get(day, scope) as SpentRow | undefined
    return row === undefined ? nothing : spentOf(row)
  }

  return (now: number, budget?: string): NonNullable<Work['spent']> => {
    const day = dayOf(now)
    const spent = { day, all: read(day, all) }
    return budget === undefined ? spent : { ...spent, budget: read(day, budget) }
  }
}

/** Reads what was spent on a day, by all runs and by every policy that has spent something. */
export function createDayReader(db: DatabaseSync): (now: number) => SpentToday {
  const select = db.prepare('SELECT scope, runs, tokens, told FROM spent WHERE day = ? ORDER BY scope')
  return (now) => {
    const day = dayOf(now)
    const rows = select.all(day) as unknown as (SpentRow & { scope: string })[]
    const byScope = new Map(rows.map((row) => [row.scope, spentOf(row)]))
    const total = byScope.get(all) ?? nothing
    byScope.delete(all)
    return { day, all: total, budgets: Object.fromEntries(byScope) }
  }
}

interface SpentRow {
  readonly runs: number
  readonly tokens: number
  readonly told: number
}

function spentOf({ runs, tokens, told }: SpentRow): Spent {
  return { runs, tokens, reported: told === 1 }
}
