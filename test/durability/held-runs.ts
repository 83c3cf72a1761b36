/**
 * Tests that an expired key of a vendor and a program that is missing lose no event: their runs wait, and after the repair one command for
 * each runner performs every event once, with a SIGKILL between every two steps.
 */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openFakeServer } from '@reveille/kit/fake-server'
import type { IssueRecord, Page, RunRecord } from '../../runtime/store/port.ts'
import { chatAnswer } from '../agents/model-server.ts'
import { until } from '../installation.ts'
import { assertExcused } from './crash.ts'
import {
  type KilledGateway,
  postWhileKilled,
  restart,
  runCommand,
  seeded,
  useKilledGateways,
} from './killed-gateway.ts'

const runners = ['vendor', 'program'] as const
type Runner = (typeof runners)[number]

/** The event's id keeps a repeated request from counting twice. */
const hooks = `  mappings:${runners
  .map(
    (runner) => `
    - id: ${runner}
      match: { path: ${runner} }
      runner: ${runner}
      message: 'event <{{n}}>'
      wakeMode: next-heartbeat
      channel: witness
      to: team
      dedupe: { key: "${runner}:{{n}}" }`,
  )
  .join('')}
`
const [expiredKey, renewedKey] = ['expired-key-0123456789', 'renewed-key-0123456789']

/** `events` for each runner. The same seed gives the same kills at the same moments. */
export function testHeldRuns(events: number, kills: number): void {
  const install = useKilledGateways()

  test(`${events} events of an expired key and ${events} of a missing program are each performed once after the repair, although the gateway is killed ${kills} times in each step`, async (t) => {
    const random = seeded(20261128)
    const outside = await startOutside(t)
    const gateway = await install(hooks, { agents: outside.agents, plugins: ['@reveille/plugin-ai'] })
    await writeFile(join(gateway.folder, '.env'), `VENDOR_KEY=${expiredKey}\n`)
    await gateway.start()
    const killed = async (step: Promise<unknown>) => {
      await pause(random() * 150)
      await restart(gateway)
      await step
    }

    const posts = Array.from({ length: events }, (_, n) =>
      runners.map((runner) => ({ path: `/hooks/${runner}`, body: { n }, statuses: [200, 202] })),
    )
    await postWhileKilled(gateway, posts.flat(), kills)
    await bothHeld(gateway)
    await restart(gateway)

    // An order before the repair probes, finds out, and loses nothing.
    for (let kill = 0; kill < kills; kill += 1) await killed(retryBoth(t, gateway))
    await bothHeld(gateway)
    assert.equal(
      (await gateway.runs()).filter(({ state }) => state !== 'queued' && state !== 'running').length,
      0,
    )
    assert.equal((await outside.performed()).size, 0)
    const refusedDuring = outside.refused()

    // While nobody is there, so that no reload notices what is repaired.
    await gateway.kill('SIGKILL')
    await writeFile(join(gateway.folder, '.env'), `VENDOR_KEY=${renewedKey}\n`)
    await outside.installProgram()
    await gateway.start()
    for (let kill = 0; kill < kills; kill += 1) await killed(retryBoth(t, gateway))
    // A command that the last kill cut off is given again.
    await retryUntilAccepted(t, gateway)
    for (let kill = 0; kill < kills; kill += 1) await killed(Promise.resolve())
    await gateway.everythingEnded()

    const runs = await gateway.runs()
    const performed = await outside.performed()
    let again = 0
    assert.equal(runs.length, 2 * events)
    for (const runner of runners)
      for (let n = 0; n < events; n += 1) {
        const own = runs.filter((run) => run.runner === runner && run.message === `event <${n}>`)
        assert.equal(own.length, 1, `${runner} ${n} has one run`)
        const [run] = own as [RunRecord]
        assert.deepEqual([run.state, run.stage], ['succeeded', 'delivered'], `${runner} ${n}`)
        const times = performed.get(`${runner} ${n}`) ?? 0
        assertExcused(`${runner} ${n}`, run, times)
        if (times > 1) again += 1
      }
    const keys = new Set((await gateway.sent()).map(({ key }) => key))
    assert.equal(keys.size, 2 * events, 'each reply went out, and none as another message')
    for (const runner of runners) {
      const command = await runCommand(t, gateway, ...retryOf(runner))
      await command.ended
      assert.equal(JSON.parse(command.stdout()).done, 0, 'the same command does nothing a second time')
    }
    assert.deepEqual(await openIssues(gateway), [])
    await gateway.endInOrder()
    t.diagnostic(
      `${again} of ${2 * events} events were performed again with a recorded reason; the vendor refused ${refusedDuring} requests during the outage`,
    )
  })
}

const retryOf = (runner: Runner) => ['retry', '--runner', runner, '--since', '8h', '--json']

/** Resolves with whether both commands were carried out. */
async function retryBoth(t: TestContext, gateway: KilledGateway): Promise<boolean> {
  const ends = await Promise.all(
    runners.map(async (runner) => (await runCommand(t, gateway, ...retryOf(runner))).ended),
  )
  return ends.every(({ code }) => code === 0)
}

async function retryUntilAccepted(t: TestContext, gateway: KilledGateway): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) if (await retryBoth(t, gateway)) return
  throw new Error(`The command was refused:\n${gateway.output()}`)
}

async function openIssues(gateway: KilledGateway): Promise<string[]> {
  const issues = (await gateway.read<Page<IssueRecord>>('/api/issues?state=open'))?.items ?? []
  return issues.filter(({ code }) => code === 'RUNNER_HELD').map(({ subject }) => subject)
}

async function bothHeld(gateway: KilledGateway): Promise<void> {
  const areHeld = async () => (await openIssues(gateway)).length === runners.length || undefined
  await until(areHeld, 'the issues of both runners')
}

/** The world outside the gateway: a vendor that refuses an expired key, and a program that is not installed. */
async function startOutside(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-outside-'))
  const vendor = await startVendor(t)
  t.after(() => rm(folder, { recursive: true, force: true }))
  const witness = join(folder, 'performed')
  const program = join(folder, 'agent')
  return {
    agents: JSON.stringify({
      defaults: { runner: 'counting' },
      runners: {
        vendor: {
          kind: 'ai',
          model: 'far/small',
          providers: { far: { kind: 'openai-compatible', baseUrl: vendor.url, apiKey: '${VENDOR_KEY}' } },
        },
        program: { kind: 'command', command: program, cwd: folder },
      },
    }),
    refused: vendor.refused,
    /** Number of times that each event was performed, by its runner and number. */
    async performed(): Promise<ReadonlyMap<string, number>> {
      const lines = (await readFile(witness, 'utf8').catch(() => '')).split('\n').filter(Boolean)
      const all = [...vendor.answered.map((n) => `vendor ${n}`), ...lines.map((n) => `program ${n}`)]
      return new Map(all.map((event) => [event, all.filter((other) => other === event).length]))
    },
    async installProgram() {
      const find = `sed -n 's/.*event <\\([0-9]*\\)>.*/\\1/p'`
      await writeFile(program, `#!/bin/sh\nn=$(${find})\necho "$n" >> ${witness}\necho done\n`, {
        mode: 0o755,
      })
    },
  }
}

/** Speaks the chat protocol that OpenAI published. */
async function startVendor(t: TestContext) {
  const answered: string[] = []
  let refused = 0
  const server = await openFakeServer({
    answer({ headers, text }) {
      if (headers['authorization'] === `Bearer ${renewedKey}`) {
        answered.push(/event <(\d+)>/.exec(text)?.[1] ?? text)
        return chatAnswer('done')
      }
      refused += 1
      return { status: 401, body: { error: { message: 'The key has expired.', code: 'invalid_api_key' } } }
    },
  })
  t.after(server.close)
  return { url: `${server.url}/v1`, answered, refused: () => refused }
}
