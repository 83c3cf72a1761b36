/** Adds up what turns have cost: by day (UTC) and scope for budgets, and by mapping, model and session for reports. */

import type { DatabaseSync } from 'node:sqlite'
import { dayOf } from '../../day.ts'
import type { Cost, CostOptions, Effects, Spent, SpentToday, Work } from '../../port.ts'
import {
  allRuns,
  type CostRow,
  costOf,
  costOrders,
  costsKeptMs,
  microsOf,
  mostCounted,
  nothingSpent,
  type SpentRow,
  spentOf,
  spentToday,
} from '../../spending.ts'

/** Adds to what was spent. It is not idempotent, so it belongs into a transaction under a lease token. */
export function createSpending(db: DatabaseSync) {
  const upsert = db.prepare(
    `INSERT INTO spent (day, scope, runs, tokens, told, micros) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (day, scope) DO UPDATE
     SET runs = min(runs + excluded.runs, ${mostCounted}), tokens = min(tokens + excluded.tokens, ${mostCounted}),
         told = max(told, excluded.told), micros = min(micros + excluded.micros, ${mostCounted})`,
  )
  const upsertCost = db.prepare(
    `INSERT INTO costs (day, mapping, model, session, runs, tokens, micros, unpriced) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (day, mapping, model, session) DO UPDATE ${added}`,
  )
  return ({ day, budget, runs, tokens, usd, of = {}, reported = [] }: NonNullable<Effects['spend']>) => {
    const micros = microsOf(usd ?? 0)
    upsert.run(day, allRuns, runs, tokens, reported.includes('all') ? 1 : 0, micros)
    if (budget !== undefined)
      upsert.run(day, budget, runs, tokens, reported.includes('budget') ? 1 : 0, micros)
    if (runs === 0) return
    const { mapping = '', model = '', session = '' } = of
    const unpriced = usd === undefined ? runs : 0
    upsertCost.run(day, mapping, model, session.toWellFormed(), runs, tokens, micros, unpriced)
  }
}

const added = `SET runs = min(runs + excluded.runs, ${mostCounted}), tokens = min(tokens + excluded.tokens, ${mostCounted}),
  micros = min(micros + excluded.micros, ${mostCounted}), unpriced = min(unpriced + excluded.unpriced, ${mostCounted})`

/** Reads what was spent on the day of `now`: by all runs and, if one is named, by a policy's budget. */
export function createSpentReader(db: DatabaseSync) {
  const select = db.prepare(
    'SELECT runs, tokens, told AS reported, micros FROM spent WHERE day = ? AND scope = ?',
  )

  function read(day: string, scope: string): Spent {
    const row = select.get(day, scope) as SpentRow | undefined
    return row === undefined ? nothingSpent : spentOf(row)
  }

  return (now: number, budget?: string): NonNullable<Work['spent']> => {
    const day = dayOf(now)
    const spent = { day, all: read(day, allRuns) }
    return budget === undefined ? spent : { ...spent, budget: read(day, budget) }
  }
}

/** Reads what was spent on a day, by all runs and by every policy that has spent something. */
export function createDayReader(db: DatabaseSync): (now: number) => SpentToday {
  const select = db.prepare(
    'SELECT scope, runs, tokens, told AS reported, micros FROM spent WHERE day = ? ORDER BY scope',
  )
  return (now) => {
    const day = dayOf(now)
    const rows = select.all(day) as unknown as (SpentRow & { scope: string })[]
    return spentToday(day, rows)
  }
}

/** Reads a page of what turns have cost, from its `skip`-th group on. */
export function createCostReader(db: DatabaseSync) {
  return ({ by, since = '', until = '9' }: CostOptions, limit: number, skip: number): Cost[] => {
    const rows = db
      .prepare(
        `SELECT ${by} AS name, sum(runs) AS runs, sum(tokens) AS tokens, sum(micros) AS micros, sum(unpriced) AS unpriced
         FROM costs WHERE day >= ? AND day <= ? GROUP BY ${by} ORDER BY ${costOrders[by]} LIMIT ? OFFSET ?`,
      )
      .all(since, until, limit, skip) as unknown as CostRow[]
    return rows.map(costOf)
  }
}

/** Forgets sessions of days before `cutoff`, whose costs then count without a session, and all costs of days long ago. */
export function createCostPruning(db: DatabaseSync) {
  const fold = db.prepare(
    `INSERT INTO costs (day, mapping, model, session, runs, tokens, micros, unpriced)
     SELECT day, mapping, model, '', sum(runs), sum(tokens), sum(micros), sum(unpriced) FROM costs
     WHERE day < ? AND session <> '' GROUP BY day, mapping, model
     ON CONFLICT (day, mapping, model, session) DO UPDATE ${added}`,
  )
  const unname = db.prepare("DELETE FROM costs WHERE day < ? AND session <> ''")
  const remove = db.prepare('DELETE FROM costs WHERE day < ?')
  let done = ''
  return (cutoff: string, now: number) => {
    if (cutoff === done) return
    done = cutoff
    fold.run(cutoff)
    unname.run(cutoff)
    remove.run(dayOf(Math.max(0, now - costsKeptMs)))
  }
}
