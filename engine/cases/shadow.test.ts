import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Mapping, snapshotOf } from '../compile/fixture.ts'
import { plainSurface } from './fixture.ts'
import { type PastRequest, runShadow } from './shadow.ts'

function past(id: string, body: unknown, endpoint = 'test'): PastRequest {
  return { id, endpoint, headers: {}, query: {}, body: Buffer.from(JSON.stringify(body)), now: 5 }
}

const opened: Mapping = { id: 'opened', match: { body: { action: 'opened' } }, message: 'See {{title}}' }

async function compare(before: readonly Mapping[], after: readonly Mapping[], ...bodies: readonly unknown[]) {
  const requests = bodies.map((body, index) => past(`r${index + 1}`, body))
  const [live, candidate] = [await snapshotOf(before), await snapshotOf(after)]
  return runShadow({ requests, live, candidate, surface: plainSurface, dryRun: 'refuse' })
}

test('a candidate that decides alike has no differences, though every run has ids of its own', async () => {
  const same = { ...opened, description: 'words' }
  const shadow = await compare([opened], [same], { action: 'opened', title: 'a "b" c' }, {})
  assert.deepEqual(shadow, { compared: 2, same: 2, summary: [], differences: [] })
})

test('a comparison that ends early says how many requests it compared', async () => {
  const requests = ['one', 'two', 'three'].map((id) => past(id, { action: 'opened' }))
  const [live, candidate] = [await snapshotOf([opened]), await snapshotOf([opened])]
  let asked = 0
  const isGivenUp = () => ++asked > 2
  const options = { requests, live, candidate, surface: plainSurface, dryRun: 'refuse', isGivenUp } as const
  const shadow = await runShadow(options)
  assert.deepEqual([shadow.compared, shadow.same], [2, 2])
})

test('changes are counted in words, the most frequent first, and listed by request', async () => {
  const match = { body: { action: 'closed' } }
  const wakes: Mapping = { id: 'closed', match, action: 'wake', text: 'Closed' }
  const bodies = [{ action: 'closed' }, { action: 'opened', title: 't' }, { action: 'closed' }, {}]
  const shadow = await compare([opened], [wakes], ...bodies)
  assert.deepEqual(shadow.summary, ['2 would now wake', '1 would no longer match'])
  assert.deepEqual([shadow.compared, shadow.same], [4, 1])
  assert.deepEqual(shadow.differences[1], {
    id: 'r2',
    endpoint: 'test',
    receivedAt: 5,
    change: 'would no longer match',
    before: { outcome: 'accepted', mappings: ['opened'], actions: ['agent'] },
    after: { outcome: 'ignored', mappings: [], actions: [] },
  })
})

const wake: Mapping = { ...opened, message: undefined, action: 'wake', text: 'x' }
const changes: readonly (readonly [string, readonly Mapping[], string])[] = [
  ['another text', [{ ...opened, message: 'Look at {{title}}' }], 'would differ in message'],
  [
    'another time and channel',
    [{ ...opened, timeoutSeconds: 5, channel: 'slack' }],
    'would differ in channel, timeoutSeconds',
  ],
  ['another kind of action', [wake], 'would wake instead of run an agent'],
  [
    'a further action',
    [
      { ...opened, continue: true },
      { ...opened, id: 'two' },
    ],
    'would run 2 agents instead of run an agent',
  ],
  ['another mapping', [{ ...opened, id: 'new' }], 'would be taken by another mapping'],
  ['a refusal', [{ ...opened, strict: true, message: '{{absent}}' }], 'would now be refused (ABSENT_FIELD)'],
]

for (const [what, after, change] of changes)
  test(`${what} is reported as such`, async () => {
    const shadow = await compare([opened], after, { action: 'opened', title: 'many words that are secret' })
    assert.equal(shadow.differences.map((each) => each.change).join(), change)
    assert.ok(!JSON.stringify(shadow).includes('secret'), 'no value of the payload is shown')
  })
