/**
 * Tests a gateway under load whose disk loses writes for a while and reports that once, at fsync. Then the power fails, or the
 * gateway is started again: nothing that was acknowledged may be lost.
 */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { IssueRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { until } from '../installation.ts'
import { createDroppingDisk } from './dropping-disk.ts'
import { assertKept, type KilledGateway, seeded, useKilledGateways } from './killed-gateway.ts'
import { beginLoad } from './load.ts'
import { createThinDisk, type FailingDisk } from './thin-disk.ts'

interface Outage {
  readonly windowMs: number
  /** True if the reader's connection is open when the outage begins. */
  readonly reads: boolean
  /** True if the log was checkpointed before, so that commits overwrite it. */
  readonly isRecycled: boolean
  /** True if commits are so large that a checkpoint falls into the outage. */
  readonly isLarge: boolean
  /** True if the cache is lost after the outage. */
  readonly evicts: boolean
  readonly end: 'power loss' | 'SIGTERM' | 'SIGKILL'
}

const largeBytes = 100_000
const smallBytes = 500

function outageOf(seed: number): { readonly outage: Outage; readonly random: () => number } {
  const random = seeded(seed)
  random()
  return {
    random,
    outage: {
      windowMs: [150, 600, 1500][seed % 3] ?? 600,
      reads: seed % 2 === 0,
      isRecycled: seed % 4 >= 2,
      isLarge: Math.floor(seed / 3) % 2 === 1,
      evicts: random() < 0.5,
      end:
        (['power loss', 'SIGTERM', 'power loss', 'SIGKILL'] as const)[Math.floor(seed / 2) % 4] ??
        'power loss',
    },
  }
}

export function testLostWrites(seeds: readonly number[], create = createDisk) {
  const install = useKilledGateways()
  for (const seed of seeds) {
    const { outage, random } = outageOf(seed)
    test(`seed ${seed}: ${describe(outage)}`, { timeout: 180_000 }, async (t) => {
      const disk = create()
      if (disk === undefined) return t.skip('no loop devices for this user, and no C compiler')
      atEnd(t, () => disk.remove())
      const data = join(disk.folder, 'data')
      const gateway = await install('', { data, env: disk.env })
      await gateway.start()
      const { acknowledged, refused } = await loseWrites(t, { gateway, disk, outage, random, data })
      atEnd(t, () => gateway.kill('SIGKILL').catch(() => undefined))
      await gateway.kill(outage.end === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
      if (outage.end === 'power loss') disk.losePower()
      await gateway.start()
      await assertKept(gateway, acknowledged)
      const issues = await gateway.readAll<IssueRecord>('issues', 'key')
      t.diagnostic(`acknowledged ${acknowledged.length}, refused ${refused}, issues ${[...issues.keys()]}`)
      if (refused > 0)
        assert.ok([...issues.keys()].includes('DISK_LOST_WRITES:store'), 'the outage left an issue')
      await gateway.endInOrder()
    })
  }
}

/** A real file system where this machine allows it. */
export function createDisk(): FailingDisk | undefined {
  return createThinDisk() ?? createDroppingDisk()
}

function describe({ windowMs, reads, isRecycled, isLarge, evicts, end }: Outage): string {
  return [
    `${windowMs} ms`,
    reads ? 'reader awake' : 'reader asleep',
    `log ${isRecycled ? 'recycled' : 'fresh'}`,
    ...(isLarge ? ['a checkpoint'] : []),
    ...(evicts ? ['cache evicted'] : []),
    end,
  ].join(', ')
}

interface Scene {
  readonly gateway: KilledGateway
  readonly disk: FailingDisk
  readonly outage: Outage
  readonly random: () => number
  readonly data: string
}

async function loseWrites(t: TestContext, { gateway, disk, outage, random, data }: Scene) {
  if (outage.isRecycled) await recycleLog(t, gateway)
  const load = beginLoad(t, gateway, outage.isLarge ? 150 : 100, outage.isLarge ? largeBytes : smallBytes)
  await pause(200 + random() * 200)
  if (outage.reads) await gateway.read('/api/requests?limit=1')
  const before = load.acknowledged.length
  disk.fail()
  const failedAt = load.at()
  const readiness = await readinessFor(gateway, outage.windowMs)
  disk.heal()
  const during = load.acknowledged.length - before
  await gateway.becomes(200)
  const healedMs = load.at() - failedAt - outage.windowMs
  await pause(300)
  if (outage.evicts) disk.evict(...['reveille.db', 'reveille.db-wal'].map((name) => join(data, name)))
  await pause(300)
  await load.stop()
  const refused = load.count(503)
  t.diagnostic(
    `${disk.name}: acknowledged ${before} before, ${during} in the window, ${load.acknowledged.length - before - during} after; 503 ${refused}; ready ${Math.round(healedMs)} ms after the disk`,
  )
  assertNotReady(readiness)
  return { acknowledged: load.acknowledged, refused }
}

/** Posts until the log has been checkpointed. */
async function recycleLog(t: TestContext, gateway: KilledGateway): Promise<void> {
  const load = beginLoad(t, gateway, 200, largeBytes)
  await until(() => load.acknowledged.length >= 150 || undefined, 'a checkpoint', 20_000)
  await load.stop()
}

/** Returns what `/readyz` answers during this time. */
async function readinessFor(gateway: KilledGateway, ms: number): Promise<readonly number[]> {
  const statuses: number[] = []
  for (const end = performance.now() + ms; performance.now() < end; ) {
    statuses.push((await fetch(`${gateway.url}/readyz`)).status)
    await pause(10)
  }
  return statuses
}

/** Once the gateway has seen the outage it is not ready again before the disk is. */
function assertNotReady(statuses: readonly number[]): void {
  const first = statuses.indexOf(503)
  if (first >= 0)
    assert.ok(
      statuses.slice(first).every((status) => status === 503),
      `/readyz: ${statuses}`,
    )
}
