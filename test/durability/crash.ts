/**
 * The promise under `kill -9`: no acknowledged request is lost, and no model is asked twice without a recorded
 * reason, however often we die.
 */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { EventRecord, Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { ensureBuilt } from '../../tools/build.js'
import { createGatewayProcess, freePort, type GatewayProcess } from './gateway-process.ts'
import { createSender } from './sender.ts'

const token = 'crash-hook-token-0123456789abcdef'
const gatewayToken = 'crash-gateway-token-0123456789abc'
const folders: string[] = []

/** The same seed gives the same kills at the same moments. */
export function testCrashes(kills: number): void {
  before(() => ensureBuilt(fileURLToPath(new URL('../..', import.meta.url))))
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

  test(`what was acknowledged survives ${kills} kills at random moments and ends, each run once`, async (t) => {
    const random = seeded(20261121)
    const { gateway, witness, dataDir } = await install()
    await gateway.start()

    let count = 0
    const sender = createSender({
      url: gateway.url,
      token,
      connections: 16,
      next() {
        count += 1
        if (count % 4 === 0)
          return {
            path: '/hooks/wake',
            body: { text: `wake ${count}`, mode: count % 64 ? 'next-heartbeat' : 'now' },
          }
        const message = {
          message: `run ${count}`,
          wakeMode: 'next-heartbeat',
          channel: 'terminal',
          to: 'stdout',
        }
        return {
          path: '/hooks/agent',
          body: count % 3 ? message : { ...message, sessionKey: `hook:lane:${count % 7}` },
        }
      },
    })
    for (let kill = 1; kill <= kills; kill++) {
      await sender.answered()
      await new Promise((resolve) => setTimeout(resolve, random() * 150))
      await gateway.kill('SIGKILL')
      if (kill % 5 === 0) await dieWhileStarting(gateway, random() * 300)
      await gateway.start()
    }
    await sender.stop()
    await everyRunEnded(gateway)
    assert.equal((await gateway.kill('SIGTERM')).code, 0, gateway.output())

    const store = new DatabaseSync(join(dataDir, 'reveille.db'), { readOnly: true })
    assert.deepEqual(store.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']])
    assert.deepEqual(store.prepare('PRAGMA foreign_key_check').all(), [])
    store.close()
    assert.deepEqual(sender.unexpected, [])
    assert.ok(sender.acknowledged.length > kills, 'the sender was answered between kills')

    await gateway.start()
    const asked = countLines(await readFile(witness, 'utf8'))
    const requests = await readAll<RequestRecord>(gateway, 'requests')
    const events = await readAll<EventRecord>(gateway, 'events')
    const runs = await readAll<RunRecord>(gateway, 'runs')
    let twice = 0
    for (const { requestId, runId, eventId } of sender.acknowledged) {
      assert.equal(requests.get(requestId)?.outcome, 'accepted', `request ${requestId} was acknowledged`)
      if (eventId) assert.ok(events.has(eventId), `event ${eventId} was acknowledged`)
      if (!runId) continue
      const run = runs.get(runId)
      assert.equal(run?.state, 'succeeded', `run ${runId}`)
      const interrupted = run.attempts.filter(
        ({ outcome, reason }) => outcome === 'interrupted' && reason,
      ).length
      const times = asked.get(runId) ?? 0
      if (times > 1) twice += 1
      assert.ok(times >= 1, `run ${runId} asked the model`)
      assert.ok(times <= 1 + interrupted, `run ${runId} asked ${times} times, ${interrupted} with a reason`)
    }
    await gateway.kill('SIGKILL')
    t.diagnostic(
      `${sender.acknowledged.length} acknowledged, ${twice} of the runs asked the model again, each with a recorded reason`,
    )
  })
}

/** A process may also die while it makes good what the death before it left behind. */
async function dieWhileStarting(gateway: GatewayProcess, afterMs: number): Promise<void> {
  const started = gateway.start().catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  await gateway.kill('SIGKILL')
  await started
}

async function install() {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-crash-'))
  folders.push(folder)
  const port = await freePort()
  const file = join(folder, 'reveille.yaml')
  await writeFile(
    file,
    `gateway:
  port: ${port}
  auth: { token: ${gatewayToken} }
  log: { level: warn, format: json }
hooks: { enabled: true, token: ${token} }
agents: { defaults: { runner: counting }, route: { channel: terminal, to: stdout } }
channels: { terminal: {} }
plugins: ['${fileURLToPath(new URL('./counting-runner', import.meta.url))}']
`,
  )
  const witness = join(folder, 'witness')
  const gateway = await createGatewayProcess({
    command: [fileURLToPath(new URL('../../build/main.js', import.meta.url)), 'start', '--config', file],
    port,
    env: { REVEILLE_TEST_WITNESS: witness },
  })
  return { gateway, witness, dataDir: join(folder, 'data') }
}

async function everyRunEnded(gateway: GatewayProcess): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const [queued, running] = await Promise.all(
      ['queued', 'running'].map((state) =>
        read<Page<RunRecord>>(gateway, `/api/runs?limit=1&state=${state}`),
      ),
    )
    if (queued?.items.length === 0 && running?.items.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Not every run ended:\n${gateway.output()}`)
}

async function read<Answer>(gateway: GatewayProcess, path: string): Promise<Answer | undefined> {
  const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gatewayToken}` } })
  return answer.ok ? ((await answer.json()) as Answer) : undefined
}

/** Every record of a list, by id. */
async function readAll<Item extends { id: string }>(
  gateway: GatewayProcess,
  list: string,
): Promise<Map<string, Item>> {
  const all = new Map<string, Item>()
  for (let cursor = ''; ; ) {
    const page = await read<Page<Item>>(gateway, `/api/${list}?limit=500${cursor}`)
    assert.ok(page, `the list of ${list} can be read`)
    for (const item of page.items) all.set(item.id, item)
    if (!page.next) return all
    cursor = `&cursor=${encodeURIComponent(page.next)}`
  }
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) if (line) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

/** A linear congruential generator (Numerical Recipes): the same kills at the same moments in every run. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
