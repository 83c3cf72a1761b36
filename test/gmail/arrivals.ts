/** Tests that each mail wakes the agent exactly once, though the gateway is killed while mails arrive. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { killAtRandom, seeded, useKilledGateways } from '../durability/killed-gateway.ts'
import { until } from '../installation.ts'
import { createMailbox } from './mailbox.ts'

/** The same seed gives the same kills, as far as machines behave alike. */
export function testArrivals({ mails, kills }: { readonly mails: number; readonly kills: number }): void {
  const install = useKilledGateways()

  test(`${mails} mails that arrive while the gateway is killed ${kills} times cause one run each`, async (t) => {
    const random = seeded(20261122)
    const mailbox = await createMailbox(t, { settings: { pollSeconds: 5 } })
    const { google } = mailbox
    const fetched = () => google.callsOf('gmail.users.messages.get').length
    const gateway = await install(mailbox.hooks)
    await mailbox.consent(join(gateway.folder, 'data'))
    await gateway.start()
    // Mails from before the first start do not count.
    await until(() => google.callsOf('gmail.users.history.list').length > 0 || undefined, 'the first look')

    const arrived = new Set<string>()
    /**
     * This many mails may have arrived by now, so that each gateway gets some while it runs and finds some that came
     * before.
     */
    let due = mails / (kills + 1)
    const arriving = (async () => {
      while (arrived.size < mails) {
        await pause(random() * 25)
        for (let left = 1 + random() * 12; left >= 1 && arrived.size < Math.floor(due); left--)
          arrived.add(google.deliver({ subject: `mail ${arrived.size}` }))
      }
    })()
    const half = mails / (kills + 1) / 2
    await killAtRandom(gateway, {
      kills,
      random,
      // The kill hits fetching, posting or storing.
      async next(kill) {
        if (kill > 1) due += half
        const known = fetched()
        await until(() => fetched() > known || undefined, 'a mail that is fetched')
      },
      whileDown() {
        due += half
      },
    })
    due = mails
    await arriving

    const areThere = async () => (await gateway.runs()).length >= mails || undefined
    await until(areThere, 'the runs of all mails', 60_000)
    await gateway.everythingEnded()
    const runs = await gateway.runs()
    await gateway.endInOrder()

    assert.deepEqual(google.mistakes, [])
    const wanted = [...arrived].map((id) => `hook:gmail:${id}`).sort()
    assert.deepEqual(runs.map(({ sessionKey }) => sessionKey).sort(), wanted, 'each mail is one run')
    assert.deepEqual([...new Set(runs.map(({ state }) => state))], ['succeeded'])
    const posts = new Set(runs.map(({ requestId }) => requestId)).size
    t.diagnostic(`${fetched()} mails fetched for ${mails}, in ${posts} posts that brought something new`)
  })
}
