import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settings, Snapshot } from '@reveille/engine'
import type { Spent } from '../store/port.ts'
import { createBudgets, type Exhausted, type Reservation } from './budget.ts'

const noon = Date.UTC(2026, 0, 31, 12)
const day = '2026-01-31'
const dayMs = 86_400_000

type Payer = Parameters<ReturnType<typeof createBudgets>['reserve']>[0]

interface Setting {
  readonly budget?: Settings['agents']['budget']
  readonly endpoints?: Snapshot['endpoints']
}

function openBudgets({ budget, endpoints = {} }: Setting) {
  let time = noon
  const alarms: unknown[] = []
  const snapshot = { settings: { agents: { budget } }, endpoints } as never
  const budgets = createBudgets({
    current: () => ({ generation: 1, snapshot }),
    now: () => time,
    observer: { budgetAlarmed: ({ key, percent, unit, spent }) => alarms.push([key, percent, unit, spent]) },
  })
  return {
    ...budgets,
    alarms,
    /** Begins a turn. */
    reserve(given: Partial<Payer> = {}): Reservation {
      const answer = budgets.reserve({ spent: spent(), ...given })
      assert.ok(answer.ok)
      return answer
    },
    /** Asks for a turn that is refused. */
    refuse(given: Partial<Payer> = {}): Exhausted {
      const answer = budgets.reserve({ spent: spent(), ...given })
      assert.ok(!answer.ok)
      return answer
    },
    advance(ms: number) {
      time += ms
    },
  }
}

function spent(all: Partial<Spent> = {}, budget?: Partial<Spent>) {
  const nothing = { runs: 0, tokens: 0, usd: 0, reported: false }
  return { day, all: { ...nothing, ...all }, budget: { ...nothing, ...budget } }
}

const asked = { asked: true }

test('without a budget every turn is counted and none is held back', () => {
  const budgets = openBudgets({})
  const turn = budgets.reserve({ spent: spent({ runs: 1e6, tokens: 1e9 }) })
  const usage = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 2 }
  assert.deepEqual(turn.end({ asked: true, usage }), { day, runs: 1, tokens: 7 })
})

test('turns that are under way, or not on disk yet, count towards the runs of the day', () => {
  const budgets = openBudgets({ budget: { runs: 3 } })
  const before = { spent: spent({ runs: 1 }) }
  const first = budgets.reserve(before)
  first.end(asked)
  budgets.reserve(before)
  const third = budgets.refuse(before)
  assert.equal(third.what, 'the budget of all runs (agents.budget), 3 runs a day,')
  assert.deepEqual([third.day, third.nextDayAt], [day, Date.UTC(2026, 1, 1)])
})

test('a turn for which no runner was called releases its reservation', () => {
  const budgets = openBudgets({ budget: { runs: 1 } })
  const turn = budgets.reserve()
  assert.equal(turn.end({ asked: false }), undefined)
  budgets.reserve()
})

test('tokens count once they are known', () => {
  const budgets = openBudgets({ budget: { tokens: 100 } })
  const before = { spent: spent({ tokens: 90 }) }
  const turn = budgets.reserve(before)
  budgets.reserve(before)
  turn.end({ asked: true, usage: { outputTokens: 10 } })
  const { what } = budgets.refuse(before)
  assert.equal(what, 'the budget of all runs (agents.budget), 100 tokens a day,')
})

test("a policy's budget stops its own runs and no others", () => {
  const endpoints = { github: { budget: { runs: 1 } }, stripe: {} }
  const budgets = openBudgets({ budget: { runs: 10 }, endpoints })
  const github = { budget: 'github' }
  assert.deepEqual(budgets.reserve(github).end(asked), {
    day,
    budget: 'github',
    runs: 1,
    tokens: 0,
  })
  assert.equal(budgets.refuse(github).what, 'the budget of "github" (endpoints.github.budget), 1 run a day,')
  budgets.reserve({ budget: 'stripe' })
  budgets.reserve({ budget: 'a policy that is gone' })
})

test('a spent budget is reported once a day, by the first turn that meets it', () => {
  const budgets = openBudgets({ budget: { runs: 0 }, endpoints: { github: { budget: { runs: 0 } } } })
  const { report } = budgets.refuse({ budget: 'github' })
  assert.deepEqual(report, { day, budget: 'github', runs: 0, tokens: 0, reported: ['all'] })
  assert.equal(budgets.refuse().report, undefined)
})

test('the spending and the reports of other processes count', () => {
  const budgets = openBudgets({ budget: { runs: 5 } })
  budgets.reserve()
  assert.equal(budgets.refuse({ spent: spent({ runs: 5, reported: true }) }).report, undefined)
})

test('at midnight UTC the next day begins, and a turn counts for the day on which it began', () => {
  const budgets = openBudgets({ budget: { runs: 1 } })
  const turn = budgets.reserve()
  budgets.advance(dayMs / 2)
  const next = budgets.reserve({ spent: spent({ runs: 1, reported: true }) })
  assert.deepEqual([turn.end(asked)?.day, next.end(asked)?.day], [day, '2026-02-01'])
  assert.notEqual(budgets.refuse({ spent: undefined }).report, undefined)
})

test('a turn that an earlier process lost is paid for', () => {
  const budgets = openBudgets({ budget: { runs: 2 } })
  const payer = { spent: spent() }
  assert.deepEqual(budgets.settleLost(payer, 'run:1'), { day, runs: 1, tokens: 0 })
  budgets.reserve(payer)
  budgets.refuse(payer)
})

test('a lost turn that is found again, because nothing could be written, is paid for once', () => {
  const budgets = openBudgets({ budget: { runs: 3 } })
  const before = { spent: spent({ runs: 1 }) }
  for (const _ of [1, 2, 3])
    assert.deepEqual(budgets.settleLost(before, 'run:1'), { day, runs: 1, tokens: 0 })
  budgets.reserve(before).end(asked)
  budgets.refuse(before)
})

test('money counts like tokens, and half, four fifths and all of a budget are alarmed about once each', () => {
  const budgets = openBudgets({ budget: { usd: 10, runs: 100 } })
  for (const usd of [4, 1, 0.5, 4, 0.5])
    budgets.reserve().end({ asked: true, usage: { inputTokens: 1, usd } })
  assert.deepEqual(budgets.alarms, [
    ['agents.budget', 50, 'usd', '5 of 10 USD, 2 of 100 runs'],
    ['agents.budget', 80, 'usd', '9.5 of 10 USD, 4 of 100 runs'],
    ['agents.budget', 100, 'usd', '10 of 10 USD, 5 of 100 runs'],
  ])
  assert.match(budgets.refuse().what, /10 USD a day/)
})

test('spending before a restart raises no second alarm', () => {
  const { reserve, alarms } = openBudgets({ budget: { tokens: 100 } })
  reserve({ spent: spent({ tokens: 60 }) }).end({ asked: true, usage: { inputTokens: 1 } })
  assert.deepEqual(alarms, [])
  reserve({ spent: spent({ tokens: 61 }) }).end({ asked: true, usage: { inputTokens: 30 } })
  assert.deepEqual(alarms, [['agents.budget', 80, 'tokens', '91 of 100 tokens']])
})
