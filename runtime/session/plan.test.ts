import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fence } from '@reveille/engine'
import type { SessionMessage } from '../store/port.ts'
import { exchange } from './history.ts'
import { planHistory, summaryLimit } from './plan.ts'
import { type PastTurn, turnsOf } from './window.ts'

/** Makes turns `t0`, `t1` … whose questions and answers have this length. */
function talk(...lengths: number[]): PastTurn[] {
  return turnsOf(
    lengths.flatMap((length, index) => {
      const text = 'x'.repeat(length)
      return exchange({ id: `t${index}`, prompt: text, askedAt: index, reply: text, answeredAt: index })
    }),
  )
}

const summary = (length: number): PastTurn => ({
  id: 's',
  messages: [{ role: 'summary', text: 'x'.repeat(length), at: 0, turn: 's' }],
})
const ids = (turns: readonly PastTurn[]) => turns.map(({ id }) => id).join(' ')
const characters = (turns: readonly PastTurn[]) =>
  turns.flatMap(({ messages }) => messages).reduce((sum, { text }) => sum + text.length, 0)

const ample = { maxCharacters: 1000, maxMessages: 100 }

function dropping(turns: readonly PastTurn[], limits: Partial<typeof ample>) {
  const plan = planHistory(turns, { ...ample, ...limits }, 'drop')
  return plan.kind === 'drop' ? `${ids(plan.dropped)} | ${ids(plan.shown)}` : plan.kind
}

function summarising(turns: readonly PastTurn[], limits: Partial<typeof ample> = {}) {
  const plan = planHistory(turns, { ...ample, ...limits }, 'summarise')
  assert.ok(plan.kind === 'summarise')
  return plan
}

test('a history within the limits is shown whole, in either way', () => {
  for (const compaction of ['drop', 'summarise'] as const) {
    const plan = planHistory(talk(250, 250), ample, compaction)
    assert.deepEqual([plan.kind, plan.kind === 'whole' && ids(plan.shown)], ['whole', 't0 t1'])
  }
})

test('one character or one message too many drops the oldest turn', () => {
  assert.equal(dropping(talk(250, 250), { maxCharacters: 999 }), 't0 | t1')
  assert.equal(dropping(talk(1, 1, 1), { maxMessages: 5 }), 't0 | t1 t2')
})

test('turns are dropped whole, and a short old turn is not kept in place of a long newer one', () => {
  assert.equal(dropping(talk(1, 300, 300), { maxCharacters: 610 }), 't0 t1 | t2')
})

test('a last turn that is too long by itself leaves nothing', () => {
  assert.equal(dropping(talk(1, 501), {}), 't0 t1 | ')
})

test('where turns are dropped, an earlier summary is dropped like any old turn', () => {
  assert.equal(dropping([summary(200), ...talk(250, 250)], {}), 's | t0 t1')
})

test('a turn of which the store gave only the answer is not shown', () => {
  const messages: SessionMessage[] = talk(10, 10)
    .flatMap((turn) => turn.messages)
    .slice(1)
  assert.equal(ids(turnsOf(messages)), 't1')
  assert.deepEqual(turnsOf(messages.slice(0, 1)), [])
})

test('the oldest turns are summarised until about half of the limits is left', () => {
  const plan = summarising(talk(100, 100, 100, 100, 101))
  assert.equal(ids(plan.older), 't0 t1 t2')
  assert.equal(ids(plan.shownWith(summary(250))), 's t3 t4')
  assert.equal(ids(summarising(talk(1, 1, 1, 1, 1), { maxMessages: 8 }).older), 't0 t1 t2')
})

test('an earlier summary is summarised again', () => {
  assert.equal(ids(summarising([summary(200), ...talk(200, 100, 101)]).older), 's t0')
})

test('a newest turn of more than half stays as it is, if there is room beside a summary', () => {
  const plan = summarising(talk(200, 350))
  assert.deepEqual([ids(plan.older), ids(plan.shownWith(summary(250)))], ['t0', 's t1'])
  assert.equal(ids(summarising(talk(200, 400)).older), 't0 t1')
})

test('without a summary the newest turns are shown, and the earlier summary with them', () => {
  assert.equal(ids(summarising(talk(200, 200, 200)).shownWithout), 't1 t2')
  assert.equal(ids(summarising([summary(250), ...talk(200, 200, 150)]).shownWithout), 's t1 t2')
})

test('under much lower limits a history is summarised in pieces that a turn may be shown', () => {
  const plan = summarising(talk(...Array(20).fill(100)))
  assert.equal(ids(plan.older), 't0 t1 t2 t3 t4')
  assert.equal(ids(plan.shownWith(summary(250))), 's t17 t18 t19')
})

test('a turn that is too long to be shown is shortened for its summary, with the text before it', () => {
  assert.equal(ids(summarising([summary(250), ...talk(5000, 10)]).older), 's t0')
  for (const turns of [talk(5000), [summary(250), ...talk(5000)]]) {
    const { older } = summarising(turns)
    assert.ok(characters(older) <= ample.maxCharacters && older.at(-1)?.messages.length === 2)
  }
})

test('shortened text stays behind its boundary, and what follows it does not', () => {
  const [turn] = talk(5000)
  assert.ok(turn)
  const [asked, ...others] = turn.messages
  assert.ok(asked)
  const prompt = `Look:\n\n${fence('x'.repeat(5000), { label: 'a message', randomId: () => 'id7' })}`
  const { older } = summarising([{ ...turn, messages: [{ ...asked, text: prompt }, ...others] }])
  assert.match(older[0]?.messages[0]?.text ?? '', /x\n<\/outside-data id="id7">$/)
})

test('an earlier summary that is longer than lower limits allow is summarised like a turn', () => {
  const plan = summarising([summary(8000), ...talk(100)])
  assert.equal(ids(plan.older), 's')
  assert.ok(characters(plan.older) <= ample.maxCharacters)
  assert.equal(ids(plan.shownWithout), 't0')
})

test('a summary has 8,000 characters at most, and a quarter of a short history', () => {
  assert.equal(summaryLimit({ ...ample, maxCharacters: 200_000 }), 8000)
  assert.equal(summaryLimit(ample), 250)
})

test('a few summaries bring any history within its limits', () => {
  let seed = 1
  const random = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return 1 + (seed % most)
  }
  for (let round = 0; round < 300; round += 1) {
    const limits = { maxCharacters: 1000, maxMessages: 2 + random(12) }
    let turns = talk(...Array.from({ length: random(12) }, () => random(round % 2 ? 900 : 200)))
    for (let step = 0; ; step += 1) {
      const plan = planHistory(turns, limits, 'summarise')
      if (plan.kind !== 'summarise') break
      assert.ok(step < 30, 'it never ends')
      assert.ok(plan.older.length > 0 && characters(plan.older) <= limits.maxCharacters)
      const next = summary(summaryLimit(limits))
      assert.ok(characters(plan.shownWith(next)) <= limits.maxCharacters)
      turns = [next, ...turns.slice(plan.older.length)]
    }
  }
})
