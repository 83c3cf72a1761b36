import assert from 'node:assert/strict'
import { test } from 'node:test'
import { never, openTestBed, outcomesOf, type TestBed } from '../test-bed.ts'

/** A stage at which the process dies: what hangs then, and whether the model is called again. */
interface Boundary {
  readonly name: string
  readonly asksAgain: boolean
  /** The part that does not answer before the crash. */
  readonly hangs?: 'model' | 'one' | 'two'
  reach(bed: TestBed, run: string): Promise<unknown>
}

const reachSummarised = async (bed: TestBed, run: string) => {
  bed.startOnly('run')
  await bed.untilRun(run, ({ stage }) => stage === 'summarised')
}

const boundaries: readonly Boundary[] = [
  { name: 'it was accepted', asksAgain: false, reach: async () => {} },
  {
    name: 'its model was asked',
    asksAgain: true,
    hangs: 'model',
    async reach(bed) {
      await bed.start()
      await bed.until(async () => bed.turns.length === 1)
    },
  },
  { name: 'its model had answered', asksAgain: true, reach: (bed) => bed.startDoomed('run') },
  { name: 'its end was on disk', asksAgain: false, reach: reachSummarised },
  {
    name: 'its first part was on its way',
    asksAgain: false,
    hangs: 'one',
    async reach(bed) {
      await bed.start()
      await bed.until(async () => bed.sending() === 1)
    },
  },
  {
    name: 'its first part had its receipt',
    asksAgain: false,
    hangs: 'two',
    async reach(bed) {
      await bed.start()
      await bed.until(async () => (await bed.deliveries())[0]?.receipts.length === 1)
    },
  },
  {
    name: 'its last part was out and had no receipt',
    asksAgain: false,
    async reach(bed, run) {
      await reachSummarised(bed, run)
      await bed.startDoomed('delivery')
    },
  },
]

for (const { name, asksAgain, hangs, reach } of boundaries) {
  test(`a run whose process died when ${name} ends once, and nothing goes out twice under another key`, async (t) => {
    let hanging = hangs
    const bed = await openTestBed(t, {
      run: async ({ prompt }) => (hanging === 'model' ? never() : { reply: prompt }),
      send: async ({ text }) => (hanging === text ? never() : undefined),
    })
    const id = await bed.acceptRun({ deliver: true, prompt: 'one|two' })
    await reach(bed, id)
    const asked = bed.turns.length
    const sent = [...bed.sent]
    await bed.crash()
    hanging = undefined
    await bed.start()
    const run = await bed.untilDelivered(id)
    sent.push(...bed.sent)

    assert.deepEqual([run.state, run.reply], ['succeeded', 'one|two'])
    assert.equal(asked + bed.turns.length, asksAgain ? 2 : 1)
    assert.deepEqual(outcomesOf(run), asksAgain ? ['interrupted', 'succeeded'] : ['succeeded'])
    assert.deepEqual([(await bed.events()).length, run.deliveryIds.length], [1, 1])
    const texts = new Map(sent.map(({ text, key }) => [key, text]))
    const keyOf = (part: number) => `${run.deliveryIds[0]}:${part}`
    assert.deepEqual(Object.fromEntries(texts), { [keyOf(1)]: 'one', [keyOf(2)]: 'two' })
  })
}
