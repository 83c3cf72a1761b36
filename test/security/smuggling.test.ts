/**
 * Tests that a request is understood as it was meant or refused, and that a request hidden in its body is never
 * served.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayToken, hookToken } from '../installation.ts'
import { openChildGateway } from './child/child-gateway.ts'
import { sendRaw } from './raw/dial.ts'
import { seenText, shapesOf } from './smuggling/shapes.ts'

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: warn, format: json } }
hooks: { enabled: true, token: ${hookToken} }
`

test('two servers never see different requests in the same bytes, even if Node.js parses leniently', async (t) => {
  const { address } = await openChildGateway(t, {
    files: { 'reveille.yaml': configuration },
    flags: ['--insecure-http-parser'],
  })
  const port = Number(new URL(address).port)
  let lastKnown = ''

  /** Returns the texts of the events that requests have posted since the last call, newest first. An issue posts its own. */
  async function news(): Promise<string[]> {
    const headers = { authorization: `Bearer ${gatewayToken}` }
    const answer = await fetch(`${address}/api/events?limit=5`, { headers })
    const page = (await answer.json()) as {
      items: { id: string; text: string; origin: { requestId?: string } }[]
    }
    const items = page.items.filter(({ origin }) => origin.requestId !== undefined)
    const known = items.findIndex(({ id }) => id === lastKnown)
    lastKnown = items[0]?.id ?? ''
    return (known === -1 ? items : items.slice(0, known)).map(({ text }) => text)
  }

  for (const { name, bytes, statuses, seen } of shapesOf(hookToken)) {
    await t.test(name, async () => {
      const said = await sendRaw(port, [Buffer.from(bytes, 'latin1')], { answers: statuses.length })
      assert.deepEqual(said.statuses, statuses, said.text)
      assert.deepEqual(await news(), Array(seen).fill(seenText))
    })
  }

  // Commits are in order, so an earlier request has been committed by now.
  const last = await fetch(`${address}/hooks/wake`, {
    method: 'POST',
    headers: { authorization: `Bearer ${hookToken}` },
    body: JSON.stringify({ text: 'last', mode: 'next-heartbeat' }),
  })
  assert.equal(last.status, 200)
  assert.deepEqual(await news(), ['last'])
})
