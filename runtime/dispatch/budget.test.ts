import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settings, Snapshot } from '@reveille/engine'
import type { Spent } from '../store/port.ts'
import { createBudgets, type Exhausted, type Reservation } from './budget.ts'

const noon = Date.UTC(2026, 0, 31, 12)
const day = '2026-01-31'
const dayMs = 86_400_000

interface Setting {
  readonly budget?: Settings['agents']['budget']
  readonly endpoints?: Snapshot['endpoints']
}

function openBudgets({ budget, endpoints = {} }: Setting) {
  let time = noon
  const snapshot = { settings: { agents: { budget } }, endpoints } as never
  const budgets = createBudgets({ current: () => ({ generation: 1, snapshot }), now: () => time })
  return {
    ...budgets,
    advance(ms: number) {
      time += ms
    },
  }
}

function spent(all: Partial<Spent> = {}, budget?: Partial<Spent>) {
  const nothing = { runs: 0, tokens: 0, usd: 0, reported: false }
  return { day, all: { ...nothing, ...all }, budget: { ...nothing, ...budget } }
}

function reserved(answer: Reservation | Exhausted): Reservation {
  assert.ok(answer.ok)
  return answer
}

function refused(answer: Reservation | Exhausted): Exhausted {
  assert.ok(!answer.ok)
  return answer
}

const asked = { asked: true }

test('without a budget every turn is counted and none is held back', () => {
  const budgets = openBudgets({})
  const turn = reserved(budgets.reserve({ spent: spent({ runs: 1e6, tokens: 1e9 }) }))
  const usage = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 2 }
  assert.deepEqual(turn.end({ asked: true, usage }), { day, runs: 1, tokens: 7 })
})

test('turns that are under way, or not on disk yet, count towards the runs of the day', () => {
  const budgets = openBudgets({ budget: { runs: 3 } })
  const before = { spent: spent({ runs: 1 }) }
  const first = reserved(budgets.reserve(before))
  first.end(asked)
  reserved(budgets.reserve(before))
  const third = refused(budgets.reserve(before))
  assert.deepEqual(
    [third.what, third.day, third.nextDayAt],
    ['the budget of all runs (agents.budget), 3 runs a day,', day, Date.UTC(2026, 1, 1)],
  )
})

test('a turn for which no runner was called releases its reservation', () => {
  const budgets = openBudgets({ budget: { runs: 1 } })
  const turn = reserved(budgets.reserve({ spent: spent() }))
  assert.equal(turn.end({ asked: false }), undefined)
  reserved(budgets.reserve({ spent: spent() }))
})

test('tokens count once they are known', () => {
  const budgets = openBudgets({ budget: { tokens: 100 } })
  const turns = [spent({ tokens: 90 }), spent({ tokens: 90 })].map((each) =>
    reserved(budgets.reserve({ spent: each })),
  )
  turns[0]?.end({ asked: true, usage: { outputTokens: 10 } })
  const { what } = refused(budgets.reserve({ spent: spent({ tokens: 90 }) }))
  assert.equal(what, 'the budget of all runs (agents.budget), 100 tokens a day,')
})

test("a policy's budget stops its own runs and no others", () => {
  const endpoints = { github: { budget: { runs: 1 } }, stripe: {} }
  const budgets = openBudgets({ budget: { runs: 10 }, endpoints })
  const github = { budget: 'github', spent: spent() }
  assert.deepEqual(reserved(budgets.reserve(github)).end(asked), {
    day,
    budget: 'github',
    runs: 1,
    tokens: 0,
  })
  assert.equal(
    refused(budgets.reserve(github)).what,
    'the budget of "github" (endpoints.github.budget), 1 run a day,',
  )
  reserved(budgets.reserve({ budget: 'stripe', spent: spent() }))
  reserved(budgets.reserve({ budget: 'a policy that is gone', spent: spent() }))
})

test('a spent budget is reported once a day, by the first turn that meets it', () => {
  const budgets = openBudgets({ budget: { runs: 0 }, endpoints: { github: { budget: { runs: 0 } } } })
  const { report } = refused(budgets.reserve({ budget: 'github', spent: spent() }))
  assert.deepEqual(report, { day, budget: 'github', runs: 0, tokens: 0, reported: ['all'] })
  assert.equal(refused(budgets.reserve({ spent: spent() })).report, undefined)
})

test('an exhausted budget that another process reported is not reported again', () => {
  const budgets = openBudgets({ budget: { runs: 5 } })
  assert.equal(refused(budgets.reserve({ spent: spent({ runs: 5, reported: true }) })).report, undefined)
})

test('the spending of other processes counts', () => {
  const budgets = openBudgets({ budget: { runs: 5 } })
  reserved(budgets.reserve({ spent: spent() }))
  refused(budgets.reserve({ spent: spent({ runs: 5 }) }))
})

test('at midnight UTC the next day begins, and a turn counts for the day on which it began', () => {
  const budgets = openBudgets({ budget: { runs: 1 } })
  const turn = reserved(budgets.reserve({ spent: spent() }))
  budgets.advance(dayMs / 2)
  const next = reserved(budgets.reserve({ spent: spent({ runs: 1, reported: true }) }))
  assert.deepEqual([turn.end(asked)?.day, next.end(asked)?.day], [day, '2026-02-01'])
  assert.notEqual(refused(budgets.reserve({ spent: undefined })).report, undefined)
})

test('a turn that an earlier process lost is paid for', () => {
  const budgets = openBudgets({ budget: { runs: 2 } })
  const payer = { spent: spent() }
  assert.deepEqual(budgets.settleLost(payer, 'run:1'), { day, runs: 1, tokens: 0 })
  reserved(budgets.reserve(payer))
  refused(budgets.reserve(payer))
})

test('a lost turn that is found again, because nothing could be written, is paid for once', () => {
  const budgets = openBudgets({ budget: { runs: 3 } })
  const before = { spent: spent({ runs: 1 }) }
  for (const _ of [1, 2, 3])
    assert.deepEqual(budgets.settleLost(before, 'run:1'), { day, runs: 1, tokens: 0 })
  reserved(budgets.reserve(before)).end(asked)
  refused(budgets.reserve(before))
})

test('money counts like tokens, and half, four fifths and all of a budget are alarmed about once each', () => {
  const alarms: unknown[] = []
  const budgets = createBudgets({
    current: () => ({
      generation: 1,
      snapshot: { settings: { agents: { budget: { usd: 10, runs: 100 } } }, endpoints: {} } as never,
    }),
    now: () => noon,
    observer: { budgetAlarmed: ({ key, percent, unit, spent }) => alarms.push([key, percent, unit, spent]) },
  })
  for (const usd of [4, 1, 0.5, 4])
    reserved(budgets.reserve({ spent: spent() })).end({ asked: true, usage: { inputTokens: 1, usd } })
  assert.deepEqual(alarms, [
    ['agents.budget', 50, 'usd', '5 of 10 USD, 2 of 100 runs'],
    ['agents.budget', 80, 'usd', '9.5 of 10 USD, 4 of 100 runs'],
  ])
  reserved(budgets.reserve({ spent: spent() })).end({ asked: true, usage: { usd: 0.5 } })
  assert.deepEqual(alarms.at(-1), ['agents.budget', 100, 'usd', '10 of 10 USD, 5 of 100 runs'])
  assert.match(refused(budgets.reserve({ spent: spent() })).what, /10 USD a day/)
})

test('spending before a restart raises no second alarm', () => {
  const alarms: unknown[] = []
  const budgets = createBudgets({
    current: () => ({
      generation: 1,
      snapshot: { settings: { agents: { budget: { tokens: 100 } } }, endpoints: {} } as never,
    }),
    now: () => noon,
    observer: { budgetAlarmed: ({ percent }) => alarms.push(percent) },
  })
  reserved(budgets.reserve({ spent: spent({ tokens: 60 }) })).end({ asked: true, usage: { inputTokens: 1 } })
  assert.deepEqual(alarms, [])
  reserved(budgets.reserve({ spent: spent({ tokens: 61 }) })).end({ asked: true, usage: { inputTokens: 30 } })
  assert.deepEqual(alarms, [80])
})
