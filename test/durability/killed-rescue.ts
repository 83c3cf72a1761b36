/**
 * Tests a gateway that is killed between two steps of the rescue of its store from a disk that has lost writes, and again between two
 * steps of the start after that: nothing that was acknowledged may be lost.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../at-end.ts'
import { assertKept, type KilledGateway, useKilledGateways } from './killed-gateway.ts'
import { beginLoad, type Load } from './load.ts'
import { createDisk } from './lost-writes.ts'
import type { FailingDisk } from './thin-disk.ts'

const preload = fileURLToPath(new URL('./killed-at-step.mjs', import.meta.url))
/** More steps than a rescue has. */
const maxSteps = 60

interface Scene {
  readonly gateway: KilledGateway
  readonly disk: FailingDisk
  readonly steps: ReturnType<typeof createSteps>
  readonly acknowledged: Load['acknowledged']
}

/**
 * `isTaken` chooses the steps before which the process is killed, from the second on: the first leaves the mark, before which no later
 * process can know that the disk has failed, as a lost write is reported once.
 */
export function testKilledRescue(isTaken: (step: number) => boolean, create = createDisk): void {
  const install = useKilledGateways()
  test('a process that is killed between any two steps of a rescue loses nothing', {
    timeout: 600_000,
  }, async (t) => {
    const disk = create()
    if (disk === undefined) return t.skip('no loop devices for this user, and no C compiler')
    atEnd(t, () => disk.remove())
    const data = join(disk.folder, 'data')
    const steps = createSteps(t)
    const env = { ...disk.env, REVEILLE_TEST_STEPS: steps.folder, REVEILLE_TEST_DATA: data }
    const gateway = await install('', { data, env, node: ['--import', preload] })
    atEnd(t, () => gateway.kill('SIGKILL').catch(() => undefined))
    await gateway.start()
    const scene = { gateway, disk, steps, acknowledged: [] }
    let kills = 0
    const began = performance.now()
    for (let step = 2; step < maxSteps; step += 1) {
      if (!isTaken(step)) continue
      const killed = await killInRescue(t, scene, step)
      if (killed === undefined) {
        t.diagnostic(`a rescue has ${step - 1} steps: ${steps.all().join(', ')}`)
        break
      }
      kills += 1
      t.diagnostic(`step ${step}: ${killed}, ${Math.round(performance.now() - began)} ms`)
    }
    assert.ok(kills > 2, `${kills} kills`)
    await gateway.endInOrder()
  })
}

/** Returns before what the process was killed; undefined where the rescue has fewer steps. */
async function killInRescue(t: TestContext, scene: Scene, step: number): Promise<string | undefined> {
  const { gateway, disk, steps, acknowledged } = scene
  const load = beginLoad(t, gateway, 50)
  while (load.acknowledged.length < 10) await pause(10)
  disk.fail()
  steps.killBefore(step)
  const end = await Promise.race([
    gateway.died().then(() => 'died' as const),
    gateway.becomes(503).then(
      () => 'unready' as const,
      () => 'never' as const,
    ),
  ])
  disk.heal()
  assert.notEqual(end, 'never', `the gateway sees the outage: ${gateway.output()}`)
  if (end !== 'died') await Promise.race([gateway.died(), gateway.becomes(200).catch(() => undefined)])
  await load.stop()
  acknowledged.push(...load.acknowledged)
  const killed = steps.killed()
  if (killed !== undefined) {
    await gateway.died()
    if (step % 2 === 0) disk.losePower()
    // The start goes on with the rescue, and is killed between two of its steps as well.
    steps.killBefore(1 + Math.floor(step / 2))
    await gateway.start().catch(() => undefined)
    if (steps.killed() !== undefined) await gateway.died()
    steps.stop()
    if (steps.killed() !== undefined) await gateway.start()
  }
  steps.stop()
  await assertKept(gateway, acknowledged)
  return killed
}

/** Messages between the test and the process, by `killed-at-step.mjs`. */
function createSteps(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-steps-'))
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string) => join(folder, name)
  const all = (): string[] => {
    try {
      return readFileSync(file('steps'), 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  return {
    folder,
    all,
    killBefore(step: number): void {
      rmSync(file('steps'), { force: true })
      writeFileSync(file('at'), String(step))
    },
    stop: () => rmSync(file('at'), { force: true }),
    /** Before what the process was killed. */
    killed: () => all().find((line) => line.startsWith('killed before ')),
  }
}
