/**
 * Tests that a broken transform and a vendor that makes a field null lose no event, although their requests are answered 500 and 400: after
 * the repair one command performs each event once, while the gateway is killed in each step, and no reply goes out twice.
 */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page, ReplayJob, RequestRecord } from '../../runtime/store/port.ts'
import { until } from '../installation.ts'
import {
  type KilledGateway,
  killAtRandom,
  postWhileKilled,
  restart,
  runCommand,
  seeded,
  useKilledGateways,
} from './killed-gateway.ts'

/** `strict`: a field that is absent or null is refused. The id of a note keeps a repeated request from counting twice. */
const mappings = (customer: string) => `mappings:
  - id: order
    match: { path: shop }
    message: "order {{n}}"
    wakeMode: next-heartbeat
    channel: witness
    to: team
    transform: { module: order.ts }
  - id: note
    match: { path: notes }
    strict: true
    message: 'note {{n}} of ${customer}'
    wakeMode: next-heartbeat
    deliver: false
    dedupe: { key: "note:{{n}}" }
`
const broken = {
  'mappings/shop.yaml': mappings('{{customer.name}}'),
  'transforms/order.ts': 'export default () => { throw new Error("broken") }\n',
}
const fixed = {
  'mappings/shop.yaml': mappings('{{default customer.name "somebody"}}'),
  'transforms/order.ts': 'export default () => undefined\n',
}

/** `events` of each of the two failures. The same seed gives the same kills at the same moments. */
export function testReplays(events: number, kills: number): void {
  const install = useKilledGateways()

  test(`${events} failed and ${events} refused requests are each done again once, while the gateway is killed ${kills} times in each step`, async (t) => {
    const random = seeded(20261123)
    const gateway = await install('', { settings: 'history: { bodies: all }' })
    for (const folder of ['mappings', 'transforms']) await mkdir(join(gateway.folder, folder))
    await write(gateway, broken)
    await gateway.start()
    const posts = (path: string, status: number, body: object) =>
      Array.from({ length: events }, (_, n) => ({ path, body: { n, ...body }, statuses: [status] }))
    await postWhileKilled(gateway, posts('/hooks/notes', 400, { customer: { name: null } }), kills)
    // The last answers are out: what they promise is on the disk. A 500 promises nothing, as its sender tries again.
    await restart(gateway)
    await postWhileKilled(gateway, posts('/hooks/shop', 500, {}), 0)
    await gateway.endInOrder()
    await write(gateway, fixed)
    await gateway.start()

    const replay = async (filters: readonly string[], count = kills) =>
      replayWhileKilled(t, gateway, { requests: events, kills: count, random }, ...filters)
    for (const filters of [
      ['--failed', '--endpoint', 'shop'],
      ['--outcome', 'refused', '--mapping', 'note'],
    ]) {
      const first = await replay(filters)
      assert.ok(first.total >= events && first.failed === 0, JSON.stringify(first))
      assert.equal((await replay(filters, 0)).done, 0, 'the same command does nothing a second time')
    }
    await gateway.everythingEnded()
    await checkOnce(gateway, events)
    const sent = await gateway.sent()
    assert.equal(new Set(sent.map(({ text }) => text)).size, events, 'each reply went out')
    assert.equal(new Set(sent.map(({ key }) => key)).size, events, 'and none of them as another message')

    // Everything is done again, with no reply going out again.
    const again = await replay(['--outcome', 'accepted', '--endpoint', 'shop'])
    assert.deepEqual([again.total, again.done], [events, events])
    await gateway.everythingEnded()
    const keys = new Set((await gateway.sent()).map(({ key }) => key))
    assert.equal(keys.size, events, 'no reply that was delivered went out again')
    await gateway.endInOrder()
    t.diagnostic(`${sent.length - events} of ${events} messages were sent again under their own key`)
  })
}

async function write({ folder }: KilledGateway, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
}

interface Plan {
  readonly requests: number
  readonly kills: number
  readonly random: () => number
}

/** Resolves with the job as the command shows it at its end. */
async function replayWhileKilled(
  t: TestContext,
  gateway: KilledGateway,
  { requests, kills, random }: Plan,
  ...filters: readonly string[]
): Promise<ReplayJob> {
  const command = await runCommand(t, gateway, 'replay', ...filters, '--json')
  let isOver = false
  void command.ended.then(() => {
    isOver = true
  })
  /** Resolves when the newest job has settled its share of the requests, or is over. */
  const next = (kill: number) =>
    until(async () => {
      const [job] = (await gateway.read<Page<ReplayJob>>('/api/jobs?state=running'))?.items ?? []
      const settled = job === undefined ? -1 : job.done + job.failed + job.skipped
      return isOver || settled >= Math.floor((requests * (kill - 1)) / kills) || undefined
    }, 'the progress of the job')
  await killAtRandom(gateway, { kills, random, next })
  const { code } = await command.ended
  assert.equal(code, 0, command.stderr())
  return JSON.parse(command.stdout())
}

/** Checks that each event has one replay that was accepted, and one run. */
async function checkOnce(gateway: KilledGateway, events: number): Promise<void> {
  const all = [...(await gateway.readAll<RequestRecord>('requests')).values()]
  const [originals, replays] = [true, false].map((isOriginal) =>
    all.filter(({ replayOf }) => (replayOf === undefined) === isOriginal),
  )
  assert.ok(
    originals?.every(({ outcome, code }) => outcome === 'failed' || code === 'ABSENT_FIELD'),
    'the originals stay as they were',
  )
  const accepted = replays?.filter(({ outcome }) => outcome === 'accepted') ?? []
  assert.equal(accepted.length, 2 * events)
  assert.equal(new Set(accepted.map(({ replayOf }) => replayOf)).size, 2 * events, 'one replay of each')
  const runs = await gateway.runs()
  const wanted = Array.from({ length: events }, (_, n) => [`order ${n}`, `note ${n} of somebody`]).flat()
  assert.deepEqual(runs.map(({ message }) => message).sort(), wanted.sort())
  assert.ok(runs.every(({ state }) => state === 'succeeded'))
}
