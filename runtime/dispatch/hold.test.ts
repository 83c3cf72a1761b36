import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../store/port.ts'
import { openTestBed } from './test-bed.ts'

const lost = () => new StoreError('LEASE_LOST', 'another node performs it')

test('a turn begins when it is certain that no other node performs it, and not before', async (t) => {
  const bed = await openTestBed(t)
  const asked = Promise.withResolvers<void>()
  const certain = Promise.withResolvers<void>()
  const id = await bed.acceptRun({ prompt: 'hello' })
  bed.startOnly('run', (claim) => {
    const confirm = async () => {
      asked.resolve()
      await certain.promise
    }
    return bed.performer('run')({ ...claim, confirm })
  })
  await asked.promise
  assert.deepEqual(bed.turns, [])
  certain.resolve()
  await bed.untilState(id, 'succeeded')
  assert.equal(bed.turns.length, 1)
})

for (const kind of ['run', 'delivery'] as const)
  test(`a ${kind} that another node performs by now is not begun`, async (t) => {
    const bed = await openTestBed(t)
    const ended = Promise.withResolvers<unknown>()
    await bed.acceptRun({ prompt: 'hello', deliver: true })
    if (kind === 'delivery') bed.startOnly('run')
    bed.startOnly(kind, async (claim) => {
      const confirm = async () => {
        throw lost()
      }
      await bed
        .performer(kind)({ ...claim, confirm })
        .catch(ended.resolve)
      return new Promise<never>(() => {})
    })
    assert.equal(((await ended.promise) as StoreError).code, 'LEASE_LOST')
    assert.deepEqual([bed.turns.length, bed.sent], [kind === 'run' ? 0 : 1, []])
  })
