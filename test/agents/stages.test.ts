/** A process may die at any point of a run: the next one goes on at the first stage that is missing. */

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

/** Whether the model has to be asked again: only as long as its answer is not on disk. */
const askedAgain: readonly Moment[] = ['asked', 'planned']

test('wherever the process is killed, a run ends once, and no part goes out again under another key', async (t) => {
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
      `${message}: the model was asked`,
    )
    assert.deepEqual(
      run.attempts.map(({ outcome }) => outcome),
      again ? ['interrupted', 'succeeded'] : ['succeeded'],
      `${message}: what the record says of it`,
    )

    const [delivery, ...others] = run.deliveryIds
    assert.deepEqual(others, [], message)
    const sent = (await lines<{ key: string; text: string }>(wallFile)).filter(({ key }) =>
      key.startsWith(`${delivery}:`),
    )
    const expected = [`${delivery}:1`, `${delivery}:2`]
    // Nobody can tell whether a part whose receipt is missing has arrived: it is sent again, recognisable by its key.
    if (moment === 'sent') expected.push(`${delivery}:2`)
    assert.deepEqual(
      sent.map(({ key }) => key),
      expected,
      `${message}: what went out`,
    )
    const { items } = await gateway.read<Page<EventRecord>>('/api/events?limit=500')
    assert.equal(items.filter(({ origin }) => origin.runId === run.id).length, 1, `${message}: one summary`)
  }
})
