/** Tests that a run goes on at the first stage that is not done, and its conversation too, wherever the process was killed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { EventRecord, Page } from '../../runtime/store/port.ts'
import { readLines } from '../text-file.ts'
import { createKillableGateway } from './gateway.ts'
import { askedFile, dieAt, type Moment, moments, wallFile } from './mortal-plugin/index.ts'

const plugin = fileURLToPath(new URL('./mortal-plugin', import.meta.url))
const more = `plugins: ["${plugin}"]
agents:
  defaults: { runner: mortal, concurrency: 1 }
  runners: { mortal: { kind: mortal, folder: "{folder}" } }
channels: { wall: { folder: "{folder}" } }
`

/** The moments before the answer is on disk, after which the model has to be called again. */
const askedAgain: readonly Moment[] = ['asked', 'planned']

test('wherever the process is killed, a run ends once, no part is sent again under another key, and the conversation goes on', async (t) => {
  const gateway = await createKillableGateway(t, { more })
  await gateway.start()
  const lines = async <Line>(file: string) =>
    (await readLines(gateway.folder, file)).map((line) => JSON.parse(line) as Line)

  /** The conversation so far. */
  const said: string[] = []
  for (const moment of moments) {
    dieAt(gateway.folder, moment)
    const message = `killed at ${moment}`
    const sessionKey = 'hook:lighthouse'
    const asking = { message, sessionKey, channel: 'wall', to: 'everyone', wakeMode: 'next-heartbeat' }
    const { status, body } = await gateway.post('/hooks/agent', asking)
    assert.equal(status, 202)
    await gateway.died()
    await gateway.start()

    const run = await gateway.ended(body['runId'])
    assert.equal(run.state, 'succeeded', message)
    const asked = await lines<{ runId: string; attempt: number; history: readonly string[] }>(askedFile)
    const own = asked.filter(({ runId }) => runId === run.id)
    const calls = own.map(({ attempt }) => attempt)
    const outcomes = run.attempts.map(({ outcome }) => outcome)
    const expectedCalls = askedAgain.includes(moment) ? [1, 2, 'interrupted', 'succeeded'] : [1, 'succeeded']
    assert.deepEqual([...calls, ...outcomes], expectedCalls, `${message}: calls of the model and attempts`)

    for (const { history } of own) assert.deepEqual(history, said, `${message}: the turns before`)
    said.push(`user: ${run.prompt}`, `assistant: ${run.reply}`)

    const [delivery, ...others] = run.deliveryIds
    assert.deepEqual(others, [], message)
    const sent = (await lines<{ key: string }>(wallFile)).map(({ key }) => key)
    const expected = [`${delivery}:1`, `${delivery}:2`]
    // A part without a receipt may have arrived, so it is sent again under the same key.
    if (moment === 'sent') expected.push(`${delivery}:2`)
    const parts = sent.filter((key) => key.startsWith(`${delivery}:`))
    assert.deepEqual(parts, expected, `${message}: parts that were sent`)
    const { items } = await gateway.read<Page<EventRecord>>('/api/events?limit=500')
    assert.equal(items.filter(({ origin }) => origin.runId === run.id).length, 1, `${message}: one summary`)
  }
})
