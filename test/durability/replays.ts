/**
 * Tests that one command does failed requests again while the gateway is killed: each has one new outcome, and no reply goes out
 * twice.
 */

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page, ReplayJob, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import {
  dieWhileStarting,
  everyDeliveryEnded,
  type KilledGateway,
  runCommand,
  seeded,
  token,
  useKilledGateways,
} from './killed-gateway.ts'

const hooks = `  mappings:
    - id: order
      match: { path: shop }
      message: "order {{n}}"
      wakeMode: next-heartbeat
      channel: witness
      to: team
      transform: { module: order.ts }
`
const broken = 'export default () => { throw new Error("broken") }\n'
const fixed = 'export default () => undefined\n'

/** The same seed gives the same kills at the same moments. */
export function testReplays(requests: number, kills: number): void {
  const install = useKilledGateways()

  test(`${requests} failed requests are each done again once while the gateway is killed ${kills} times`, async (t) => {
    const random = seeded(20261123)
    const gateway = await install(hooks, { settings: 'history: { bodies: all }' })
    await mkdir(join(gateway.folder, 'transforms'))
    await writeFile(join(gateway.folder, 'transforms', 'order.ts'), broken)
    await gateway.start()
    for (let n = 0; n < requests; n += 50)
      await Promise.all(Array.from({ length: Math.min(50, requests - n) }, (_, i) => post(gateway, n + i)))

    await writeFile(join(gateway.folder, 'transforms', 'order.ts'), fixed)
    const { code } = await (await runCommand(t, gateway, 'reload')).ended
    assert.ok(code === 0 || code === null, 'the transform is fixed')

    const first = await replayWhileKilled(t, gateway, { requests, kills, random }, '--failed')
    assert.deepEqual([first.total, first.done, first.failed, first.skipped], [requests, requests, 0, 0])
    await everyDeliveryEnded(gateway)
    await checkOnce(gateway, requests)
    const sent = await gateway.sent()
    assert.equal(new Set(sent.map(({ text }) => text)).size, requests, 'each reply went out')
    assert.equal(new Set(sent.map(({ key }) => key)).size, requests, 'and none of them as another message')

    // Everything is done again, with no reply going out again.
    const again = await replayWhileKilled(t, gateway, { requests, kills, random }, '--outcome', 'accepted')
    assert.deepEqual([again.total, again.done], [requests, requests])
    await gateway.everyRunEnded()
    await everyDeliveryEnded(gateway)
    const keys = new Set((await gateway.sent()).map(({ key }) => key))
    assert.equal(keys.size, requests, 'no reply that was delivered went out again')

    assert.equal((await gateway.kill('SIGTERM')).code, 0, gateway.output())
    gateway.checkStore()
    t.diagnostic(`${sent.length - requests} of ${requests} messages were sent again under their own key`)
  })
}

async function post({ url }: KilledGateway, n: number): Promise<void> {
  const answer = await fetch(`${url}/hooks/shop`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ n }),
  })
  assert.equal(answer.status, 500)
  await answer.text()
}

interface Plan {
  readonly requests: number
  readonly kills: number
  readonly random: () => number
}

/** Resolves with the job as the command shows it at its end. */
export async function replayWhileKilled(
  t: TestContext,
  gateway: KilledGateway,
  { requests, kills, random }: Plan,
  ...filters: readonly string[]
): Promise<ReplayJob> {
  const command = await runCommand(t, gateway, 'replay', ...filters, '--endpoint', 'shop', '--json')
  for (let kill = 1; kill <= kills; kill += 1) {
    await progress(gateway, Math.floor((requests * (kill - 1)) / kills), command.child)
    await new Promise((resolve) => setTimeout(resolve, random() * 100))
    await gateway.kill('SIGKILL')
    if (kill % 3 === 0) await dieWhileStarting(gateway, random() * 300)
    await gateway.start()
  }
  const { code, out, err } = await command.ended
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

/** Resolves when the newest job has settled so many of its requests, or is over. */
async function progress(gateway: KilledGateway, count: number, command: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && command.exitCode === null; ) {
    const [job] = (await gateway.read<Page<ReplayJob>>('/api/jobs?state=running'))?.items ?? []
    if (job && job.done + job.failed + job.skipped >= count) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Checks that each original has one replay, which was accepted, and one run. */
async function checkOnce(gateway: KilledGateway, requests: number): Promise<void> {
  const all = [...(await gateway.readAll<RequestRecord>('requests')).values()]
  const originals = all.filter(({ replayOf }) => replayOf === undefined)
  const replays = all.filter(({ replayOf }) => replayOf !== undefined)
  assert.deepEqual([originals.length, replays.length], [requests, requests])
  assert.equal(new Set(replays.map(({ replayOf }) => replayOf)).size, requests, 'one replay of each')
  assert.ok(replays.every(({ outcome }) => outcome === 'accepted'))
  assert.ok(
    originals.every(({ outcome }) => outcome === 'failed'),
    'the originals stay as they were',
  )
  const runs = [...(await gateway.readAll<RunRecord>('runs')).values()].filter(({ kind }) => kind === 'run')
  assert.equal(new Set(runs.map(({ message }) => message)).size, requests)
  assert.equal(runs.length, requests, 'one run of each')
}
