/** Tests that each mail wakes the agent exactly once, though the gateway is killed while mails arrive. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { dieWhileStarting, seeded, useKilledGateways } from '../durability/killed-gateway.ts'
import { createMailbox } from './mailbox.ts'

/** The same seed gives the same kills, as far as machines behave alike. */
export function testArrivals({ mails, kills }: { readonly mails: number; readonly kills: number }): void {
  const install = useKilledGateways()

  test(`${mails} mails that arrive while the gateway is killed ${kills} times cause one run each`, async (t) => {
    const random = seeded(20261122)
    const pause = (maxMs: number) => new Promise((resolve) => setTimeout(resolve, random() * maxMs))
    const mailbox = await createMailbox(t, { settings: { pollSeconds: 5 } })
    const { google } = mailbox
    const fetched = () => google.callsOf('gmail.users.messages.get').length
    const gateway = await install(mailbox.hooks)
    await mailbox.consent(join(gateway.folder, 'data'))
    await gateway.start()
    // Mails from before the first start do not count.
    await eventually(() => google.callsOf('gmail.users.history.list').length > 0)

    const arrived = new Set<string>()
    /**
     * This many mails may have arrived by now, so that each gateway gets some while it runs and finds some that came
     * before.
     */
    let due = mails / (kills + 1)
    const arriving = (async () => {
      while (arrived.size < mails) {
        await pause(25)
        for (let left = 1 + random() * 12; left >= 1 && arrived.size < Math.floor(due); left--)
          arrived.add(google.deliver({ subject: `mail ${arrived.size}` }))
      }
    })()
    for (let killed = 0; killed < kills; killed++) {
      const known = fetched()
      await eventually(() => fetched() > known)
      // The kill hits fetching, posting or storing.
      await pause(200)
      await gateway.kill('SIGKILL')
      due += mails / (kills + 1) / 2
      if (killed % 3 === 2) await dieWhileStarting(gateway, random() * 400)
      await gateway.start()
      due += mails / (kills + 1) / 2
    }
    due = mails
    await arriving

    const runsOfMails = async () =>
      [...(await gateway.readAll<RunRecord>('runs')).values()].filter(({ kind }) => kind === 'run')
    await eventually(async () => (await runsOfMails()).length >= mails, { withinMs: 60_000, everyMs: 200 })
    await gateway.everyRunEnded()
    const runs = await runsOfMails()
    assert.equal((await gateway.kill('SIGTERM')).code, 0, gateway.output())
    gateway.checkStore()

    assert.deepEqual(google.mistakes, [])
    const wanted = [...arrived].map((id) => `hook:gmail:${id}`).sort()
    assert.deepEqual(runs.map(({ sessionKey }) => sessionKey).sort(), wanted, 'each mail is one run')
    assert.deepEqual([...new Set(runs.map(({ state }) => state))], ['succeeded'])
    const posts = new Set(runs.map(({ requestId }) => requestId)).size
    t.diagnostic(`${fetched()} mails fetched for ${mails}, in ${posts} posts that brought something new`)
  })
}

/** A real process does not use the test's clock. */
async function eventually(
  holds: () => unknown,
  { withinMs = 20_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<void> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; ) {
    if ((await holds()) === true) return
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  throw new Error('What was waited for did not come about.')
}
