/** Tests that a run goes on at the first stage that is not done, wherever the process was killed. */

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

test('wherever the process is killed, a run ends once, and no part is sent again under another key', async (t) => {
  const gateway = await createKillableGateway(t, { more })
  await gateway.start()
  const lines = async <Line>(file: string) =>
    (await readLines(gateway.folder, file)).map((line) => JSON.parse(line) as Line)

  for (const moment of moments) {
    dieAt(gateway.folder, moment)
    const message = `killed at ${moment}`
    const { status, body } = await gateway.post('/hooks/agent', {
      message,
      channel: 'wall',
      to: 'everyone',
      wakeMode: 'next-heartbeat',
    })
    assert.equal(status, 202)
    await gateway.died()
    await gateway.start()

    const run = await gateway.run(body['runId'], ({ stage }) => stage === 'delivered')
    assert.equal(run.state, 'succeeded', message)
    const asked = (await lines<{ runId: string; attempt: number }>(askedFile)).filter(
      ({ runId }) => runId === run.id,
    )
    const again = askedAgain.includes(moment)
    assert.deepEqual(
      asked.map(({ attempt }) => attempt),
      again ? [1, 2] : [1],
      `${message}: calls of the model`,
    )
    assert.deepEqual(
      run.attempts.map(({ outcome }) => outcome),
      again ? ['interrupted', 'succeeded'] : ['succeeded'],
      `${message}: attempts in the record`,
    )

    const [delivery, ...others] = run.deliveryIds
    assert.deepEqual(others, [], message)
    const sent = (await lines<{ key: string; text: string }>(wallFile)).filter(({ key }) =>
      key.startsWith(`${delivery}:`),
    )
    const expected = [`${delivery}:1`, `${delivery}:2`]
    // A part without a receipt may have arrived, so it is sent again under the same key.
    if (moment === 'sent') expected.push(`${delivery}:2`)
    assert.deepEqual(
      sent.map(({ key }) => key),
      expected,
      `${message}: parts that were sent`,
    )
    const { items } = await gateway.read<Page<EventRecord>>('/api/events?limit=500')
    assert.equal(items.filter(({ origin }) => origin.runId === run.id).length, 1, `${message}: one summary`)
  }
})
