import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '../store/port.ts'
import type { Ledger } from './ledger.ts'
import { createRefusalWatch } from './refusals.ts'

type Stored = Pick<RequestRecord, 'id' | 'outcome'> & Partial<RequestRecord>

/** The issues that a sweep ends, for the mapping `order` and what is stored of it, the newest first. */
async function endedWith(refused: readonly Stored[], replays: Readonly<Record<string, string>>) {
  const ended: string[] = []
  const ledger = {
    open: () => [{ code: 'MAPPING_REFUSES', subject: 'order' }],
    resolve: (code: string, subject: string) => void ended.push(`${code}:${subject}`),
  } as unknown as Ledger
  const read = {
    requests: async ({ replayOf }: { replayOf?: string }) => {
      if (replayOf === undefined) return { items: refused as readonly RequestRecord[] }
      const outcome = replays[replayOf]
      return { items: outcome === undefined ? [] : [{ id: 'r', outcome } as RequestRecord] }
    },
  }
  await createRefusalWatch({ ledger, read }).sweep()
  return ended
}

const kept = (id: string): Stored => ({ id, outcome: 'refused', bodyKept: true, code: 'ABSENT_FIELD' })

test('the issue of a mapping that refuses ends once all that is kept was replayed, and not before', async () => {
  const both = [kept('b'), kept('a')]
  const over = ['MAPPING_REFUSES:order']
  assert.deepEqual(await endedWith(both, {}), [])
  assert.deepEqual(await endedWith(both, { b: 'accepted' }), [], 'one is left')
  assert.deepEqual(await endedWith(both, { b: 'accepted', a: 'refused' }), [], 'one is refused again')
  assert.deepEqual(await endedWith(both, { b: 'accepted', a: 'accepted' }), over)
  assert.deepEqual(await endedWith(both, { b: 'duplicate', a: 'skipped' }), over, 'it came to nothing now')
  assert.deepEqual(await endedWith([{ id: 'c', outcome: 'refused' }], {}), [], 'nothing of it is kept')
  const wanted = { ...kept('d'), code: 'TRANSFORM_REFUSED' }
  assert.deepEqual(await endedWith([wanted, kept('a')], { a: 'accepted' }), over, 'its author wants that')
})
