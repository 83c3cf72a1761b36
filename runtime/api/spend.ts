/** Reads what turns have cost: by day, mapping, model or session, today's share of the budgets, and what the month will come to. */

import { pricesOf } from '@reveille/engine'
import { dayMs, dayOf } from '../store/day.ts'
import type { Cost, CostOptions, PageOptions } from '../store/port.ts'
import type { AdminOptions } from './options.ts'
import type { Answer } from './routes/client.ts'
import { readBudgets } from './status.ts'

const shownDays = 30
const projectedFromDays = 7

export async function readSpend(
  options: Pick<AdminOptions, 'store' | 'current' | 'now'>,
  { by = 'day', since, until, ...page }: Partial<CostOptions> & PageOptions,
): Promise<Answer<'readSpend'>> {
  const { store, now } = options
  const at = now()
  const period = { since: since ?? dayOf(at - (shownDays - 1) * dayMs), until: until ?? dayOf(at) }
  const monthBegan = Date.parse(`${dayOf(at).slice(0, 7)}-01`)
  const recent = dayOf(Math.min(monthBegan, at - projectedFromDays * dayMs))
  const [items, days, { day, budgets }, { all }] = await Promise.all([
    store.read.costs({ by, ...period, ...page }),
    store.read.costs({ by: 'day', since: recent, limit: 100 }),
    readBudgets(options),
    store.read.spent(),
  ])
  return {
    by,
    ...period,
    ...items,
    today: { day, usd: all.usd, budgets },
    month: monthOf(days.items, at, monthBegan),
    pricesOf,
  }
}

function monthOf(days: readonly Cost[], at: number, began: number): Answer<'readSpend'>['month'] {
  const first = new Date(began)
  const ends = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1)
  const ofMonth = days.filter(({ name }) => name >= dayOf(began))
  const usd = sumOf(ofMonth, ({ usd }) => usd)
  const from = at - projectedFromDays * dayMs
  const lately = days.filter(({ name }) => name > dayOf(from))
  // A gateway that has run for less than a week is judged by the days since its first turn.
  const since = Math.max(from, Math.min(at, ...lately.map(({ name }) => Date.parse(name))))
  const perDay = sumOf(lately, ({ usd }) => usd) / Math.max(1, (at - since) / dayMs)
  return {
    month: dayOf(began).slice(0, 7),
    usd,
    projectedUsd: Math.round((usd + (perDay * (ends - at)) / dayMs) * 100) / 100,
    unpriced: sumOf(ofMonth, ({ unpriced }) => unpriced),
  }
}

function sumOf(costs: readonly Cost[], value: (cost: Cost) => number): number {
  const sum = costs.reduce((total, each) => total + value(each), 0)
  return Math.round(sum * 1_000_000) / 1_000_000
}
