/**
 * Tests that a vendor which makes a field null loses no event, although its requests are answered with 400: after the repair one command
 * performs each event once, with a SIGKILL between every two steps.
 */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { postUntilAnswered, restart, seeded, useKilledGateways } from './killed-gateway.ts'
import { replayWhileKilled } from './replays.ts'

/** `strict`: a field that is absent or null is refused. The event's id keeps a repeated request from counting twice. */
const mappings = (message: string) => `mappings:
  - id: order
    match: { path: shop }
    strict: true
    message: ${message}
    wakeMode: next-heartbeat
    deliver: false
    dedupe: { key: "event:{{n}}" }
`
const refusing = mappings(`'order {{n}} of {{customer.name}}'`)
const repaired = mappings(`'order {{n}} of {{default customer.name "somebody"}}'`)
/** Number of events posted at a time. */
const stride = 20

/** The same seed gives the same kills at the same moments. */
export function testNullField(events: number, kills: number): void {
  const install = useKilledGateways()

  test(`${events} events that a mapping refuses are each performed once after its repair, although the gateway is killed ${kills} times in each step`, async (t) => {
    const random = seeded(20261128)
    const gateway = await install()
    await mkdir(join(gateway.folder, 'mappings'))
    const file = join(gateway.folder, 'mappings', 'order.yaml')
    await writeFile(file, refusing)
    await gateway.start()

    let next = 0
    const post = (n: number) =>
      postUntilAnswered(gateway, '/hooks/shop', { n, customer: { name: null } }, [400])
    const vendor = async () => {
      while (next < events) await post(next++)
    }
    const posting = Promise.all(Array.from({ length: stride }, vendor))
    for (let kill = 1; kill <= kills; kill += 1) {
      while (next < (events * kill) / (kills + 1)) await new Promise((resolve) => setTimeout(resolve, 5))
      await restart(gateway)
    }
    await posting
    // The last answers are out: what they promise is on the disk.
    await restart(gateway)
    await writeFile(file, repaired)
    await restart(gateway)

    const plan = { requests: events, kills, random }
    const filter = ['--outcome', 'refused', '--mapping', 'order']
    const first = await replayWhileKilled(t, gateway, plan, ...filter)
    assert.ok(first.total >= events && first.failed === 0, JSON.stringify(first))
    await restart(gateway)
    const again = await replayWhileKilled(t, gateway, { ...plan, kills: 0 }, ...filter)
    assert.equal(again.done, 0, 'the same command does nothing a second time')

    await gateway.everyRunEnded()
    const runs = [...(await gateway.readAll<RunRecord>('runs')).values()].filter(({ kind }) => kind === 'run')
    assert.deepEqual(
      runs.map(({ message }) => message).sort(),
      Array.from({ length: events }, (_, n) => `order ${n} of somebody`).sort(),
    )
    assert.ok(runs.every(({ state }) => state === 'succeeded'))
    const originals = [...(await gateway.readAll<RequestRecord>('requests')).values()].filter(
      ({ replayOf }) => replayOf === undefined,
    )
    assert.ok(originals.every(({ outcome, code }) => outcome === 'refused' && code === 'ABSENT_FIELD'))
    assert.equal((await gateway.kill('SIGTERM')).code, 0, gateway.output())
    gateway.checkStore()
    t.diagnostic(
      `${originals.length - events} events were posted again, as the gateway died before it answered`,
    )
  })
}
