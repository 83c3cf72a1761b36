/** Owns the daily budgets: whether a model may be asked once more today (UTC), and what a turn that was asked has cost. */

import type { Settings } from '@reveille/engine'
import { tokensOf } from '../agent/usage.ts'
import { dayMs, dayOf } from '../store/day.ts'
import type { Effects, RunUsage, Spent, Work } from '../store/port.ts'
import type { DispatchOptions } from './options.ts'

export interface Budgets {
  /**
   * Takes one turn from all budgets that it is paid from, or says which of them is spent. Exact for `runs`, also for
   * turns that are under way or whose settlement is not on disk yet; `tokens` are known when a turn is over, so those
   * under way may overshoot.
   */
  reserve(payer: Payer): Reservation | Exhausted
  /**
   * A turn that an earlier process was asked for and could not settle: it may have cost something. `turn` names it:
   * where its settlement cannot be written, the same turn is found again, and is paid for once.
   */
  settleLost(payer: Payer, turn: string): NonNullable<Effects['spend']>
}

/** Who pays: the policy `budget` of a run, if any, and everybody's. `spent` as the claim was given it. */
export interface Payer {
  readonly budget?: string
  readonly spent: Work['spent']
}

export interface Reservation {
  readonly ok: true
  /** Call it once, when the turn is over. What goes with its settlement: nothing when no runner was asked. */
  end(turn: { readonly asked: boolean; readonly usage?: RunUsage }): Effects['spend']
}

export interface Exhausted {
  readonly ok: false
  /** What is spent, in words of ours and of the operator, as the start of a sentence. */
  readonly what: string
  /** The day that it is spent for: `2026-01-31`. */
  readonly day: string
  /** When the next day begins. Milliseconds since the Unix epoch. */
  readonly nextDayAt: number
  /** True once for each budget and day: somebody has to be told, and this goes with what is told. */
  readonly telling?: NonNullable<Effects['spend']>
}

type Budget = NonNullable<Settings['agents']['budget']>

/** What is known of one budget today. */
interface Account {
  /** What had been spent when this process first looked. */
  readonly before: Cost
  /** What this process has spent or reserved since then. */
  readonly ours: { runs: number; tokens: number }
  told: boolean
}

interface Cost {
  readonly runs: number
  readonly tokens: number
}

type Scope = 'all' | 'budget'

/**
 * The store counts what is settled; what is under way, only this process knows. Both are added up from what had been
 * spent when an account was opened, because nothing tells when a settlement has reached the disk. Where other
 * processes spend too, what the store says is believed if it is more.
 */
export function createBudgets({ current, now }: Pick<DispatchOptions, 'current' | 'now'>): Budgets {
  let today = ''
  const accounts = new Map<string, Account>()
  const lost = new Set<string>()

  function open({ budget, spent }: Payer) {
    const day = dayOf(now())
    if (day !== today) {
      today = day
      accounts.clear()
      lost.clear()
    }
    const known = spent?.day === day ? spent : undefined
    const { settings, endpoints } = current().snapshot
    const payers = [openOne('all', '', known?.all, settings.agents.budget)]
    if (budget !== undefined) {
      const policy = Object.hasOwn(endpoints, budget) ? endpoints[budget] : undefined
      payers.push(openOne('budget', budget, known?.budget, policy?.budget))
    }
    return { day, payers }
  }

  function openOne(scope: Scope, name: string, spent: Spent | undefined, limit: Budget | undefined) {
    const key = `${scope}:${name}`
    const account = accounts.get(key) ?? newAccount(spent)
    accounts.set(key, account)
    if (spent?.told) account.told = true
    const { before, ours } = account
    const cost = {
      runs: Math.max(before.runs + ours.runs, spent?.runs ?? 0),
      tokens: Math.max(before.tokens + ours.tokens, spent?.tokens ?? 0),
    }
    return { scope, name, account, ours, limit, cost }
  }

  return {
    reserve(payer) {
      const { day, payers } = open(payer)
      for (const { scope, name, account, limit, cost } of payers) {
        const allowance = limit && spentAllowance(limit, cost)
        if (allowance === undefined) continue
        const isNews = !account.told
        account.told = true
        return {
          ok: false,
          what: `${scope === 'all' ? 'the budget of all runs (agents.budget)' : `the budget of "${name}" (endpoints.${name}.budget)`}, ${allowance} a day,`,
          day,
          nextDayAt: Date.parse(day) + dayMs,
          ...(isNews ? { telling: { ...spendOf(day, payer, 0, 0), told: [scope] } } : {}),
        }
      }
      for (const { ours } of payers) ours.runs += 1
      return {
        ok: true,
        end({ asked, usage }) {
          const tokens = tokensOf(usage)
          for (const { ours } of payers) {
            if (asked) ours.tokens += tokens
            else ours.runs -= 1
          }
          return asked ? spendOf(day, payer, 1, tokens) : undefined
        },
      }
    },
    settleLost(payer, turn) {
      const { day, payers } = open(payer)
      if (!lost.has(turn)) for (const { ours } of payers) ours.runs += 1
      lost.add(turn)
      return spendOf(day, payer, 1, 0)
    },
  }
}

function newAccount(spent: Spent | undefined): Account {
  const { runs = 0, tokens = 0, told = false } = spent ?? {}
  return { before: { runs, tokens }, ours: { runs: 0, tokens: 0 }, told }
}

/** What was allowed and is spent: `100 runs`. */
function spentAllowance({ runs, tokens }: Budget, cost: Cost): string | undefined {
  if (runs !== undefined && cost.runs >= runs) return `${runs} ${runs === 1 ? 'run' : 'runs'}`
  if (tokens !== undefined && cost.tokens >= tokens) return `${tokens} tokens`
  return undefined
}

function spendOf(day: string, { budget }: Payer, runs: number, tokens: number) {
  return { day, ...(budget === undefined ? {} : { budget }), runs, tokens }
}
