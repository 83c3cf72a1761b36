/**
 * Tests a gateway under load whose disk fails: the data folder is moved away, or a commit hangs. Nothing that was
 * acknowledged may be lost.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { IssueRecord, Page, RequestRecord } from '../../runtime/store/port.ts'
import { until } from '../installation.ts'
import { assertKept, type KilledGateway, token, useKilledGateways } from './killed-gateway.ts'
import { beginLoad, type Load } from './load.ts'

async function readyz({ url }: KilledGateway) {
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, reason: ((await response.json()) as { reason?: string }).reason }
}

export interface OutageOptions {
  readonly perSecond: number
  /** Seconds that an outage lasts. */
  readonly seconds: number
}

export function testOutages({ perSecond, seconds }: OutageOptions): void {
  const install = useKilledGateways()
  const timeout = (60 + 3 * seconds) * 1_000

  test('when the data folder is moved away under load, no request gets a 2xx that would be lost', {
    timeout,
  }, async (t) => {
    const gateway = await install()
    await gateway.start()
    const load = beginLoad(t, gateway, perSecond)
    await pause(1_000)
    const [data, away] = [join(gateway.folder, 'data'), join(gateway.folder, 'away')]
    await rename(data, away)
    const movedAt = load.at()
    const notedMs = await gateway.becomes(503)
    assert.equal(
      (await readyz(gateway)).reason,
      'the store cannot write: its data folder is gone or was replaced',
    )
    await pause(seconds * 1_000)
    const lastBefore = load.acknowledged.at(-1)?.at ?? 0
    await rename(away, data)
    const healedMs = await gateway.becomes(200)
    await pause(500)
    await load.stop()
    report(t, load, {
      'last 2xx after the move': lastBefore - movedAt,
      'noted after': notedMs,
      'healed after': healedMs,
    })
    assert.ok(lastBefore - movedAt < 1_000, `a 2xx came ${lastBefore - movedAt} ms after the move`)
    assert.equal(load.answers.get(503)?.body['code'], 'STORE_UNAVAILABLE')
    assert.ok(Number(load.answers.get(503)?.retryAfter) > 0)
    await assertKept(gateway, load.acknowledged)
    await gateway.endInOrder()
  })

  test('when commits hang under load, requests get 503 after five seconds, nothing is lost, and SIGTERM ends the process', {
    timeout,
  }, async (t) => {
    const hanging = await installOnHangingDisk(t)
    const { gateway } = hanging
    await gateway.start()
    const load = beginLoad(t, gateway, perSecond)
    await pause(1_000)
    await hanging.begin()
    const notedMs = await gateway.becomes(503)
    assert.equal((await readyz(gateway)).reason, 'the store cannot write: a commit takes longer than 5 s')
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200)
    await pause(seconds * 1_000)
    await hanging.end()
    const healedMs = await gateway.becomes(200)
    await pause(500)
    await load.stop()
    report(t, load, { 'noted after': notedMs, 'healed after': healedMs, 'longest answer': load.longest() })
    assert.ok(load.longest() < 8_000, `an answer took ${load.longest()} ms`)
    assert.deepEqual([...load.answers.keys()].sort(), [202, 503])

    const stored = await gateway.readAll<RequestRecord>('requests')
    await assertKept(gateway, load.acknowledged)
    const late = [...stored.values()].filter(
      ({ outcome, status }) => outcome === 'accepted' && status === 503,
    )
    assert.ok(late.length > 0, 'what the hanging commit stored says that its sender was answered 503')
    t.diagnostic(`stored although answered 503: ${late.length}`)

    await hanging.begin()
    void fetch(`${gateway.url}/hooks/wake`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"text":"too late"}',
    }).catch(() => undefined)
    // The commit has begun by then.
    await pause(500)
    const asked = performance.now()
    await gateway.kill('SIGTERM')
    const endedMs = performance.now() - asked
    t.diagnostic(`SIGTERM ended it after ${Math.round(endedMs)} ms`)
    assert.ok(endedMs < 15_000, `SIGTERM ended it after ${endedMs} ms`)
    await hanging.forget()
    await gateway.start()
    await assertKept(gateway, load.acknowledged)
  })

  test('a full disk is an open issue while it lasts, and over once there is room', { timeout }, async (t) => {
    const { gateway, fill, free } = await installOnHangingDisk(t)
    await gateway.start()
    await fill()
    const load = beginLoad(t, gateway, perSecond)
    await gateway.becomes(503)
    const { items } = (await gateway.read<Page<IssueRecord>>('/api/issues?state=open')) ?? { items: [] }
    assert.deepEqual(
      items.map(({ key, severity }) => [key, severity]),
      [['STORE_UNWRITABLE:store', 'losing-events']],
    )
    assert.match(items[0]?.cause ?? '', /answered 503.*disk is full/)
    await free()
    await gateway.becomes(200)
    await load.stop()
    const isOver = async () => {
      const issues = await gateway.readAll<IssueRecord>('issues', 'key')
      return issues.get('STORE_UNWRITABLE:store')?.state === 'resolved' || undefined
    }
    await until(isOver, 'the end of the issue')
    await assertKept(gateway, load.acknowledged)
  })

  async function installOnHangingDisk(t: TestContext) {
    const folder = await mkdtemp(join(tmpdir(), 'reveille-pipe-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const pipe = join(folder, 'disk')
    execFileSync('mkfifo', [pipe])
    const preload = fileURLToPath(new URL('./hanging-disk.mjs', import.meta.url))
    const gateway = await install('', { node: ['--import', preload], env: { REVEILLE_TEST_PIPE: pipe } })
    return {
      gateway,
      begin: () => writeFile(`${pipe}.on`, ''),
      fill: () => writeFile(`${pipe}.full`, ''),
      free: () => rm(`${pipe}.full`),
      /** Lets the waiting commit go on. */
      async end() {
        await rm(`${pipe}.on`)
        await (await open(pipe, 'r+')).close()
      },
      /** Nothing waits any more. */
      forget: () => rm(`${pipe}.on`),
    }
  }
}

function report(t: TestContext, load: Load, times: Readonly<Record<string, number>>): void {
  for (const [what, ms] of Object.entries(times)) t.diagnostic(`${what}: ${Math.round(ms)} ms`)
  t.diagnostic(`2xx: ${load.acknowledged.length}; 503: ${load.count(503)}; no answer: ${load.count(0)}`)
}
