import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { agent, openSurface, token } from './surface-fixture.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

for (const bodies of ['none', 'failed', 'all'] as const) {
  test(`the payload is let go before the commit is awaited, with history.bodies: ${bodies}`, async (t) => {
    const payloads: WeakRef<object>[] = []
    const { dial, state, resolved } = await openSurface(t, {
      bodies,
      resolve({ payload }) {
        payloads.push(new WeakRef(payload as object))
        // The fixture remembers requests, and the gateway does not.
        resolved.length = 0
        return { outcome: 'accepted', actions: [agent] }
      },
    })
    const commit = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    state.accept = () => {
      reached.resolve()
      return commit.promise
    }
    const sender = await dial()
    const body = '{"list":[1,2]}'
    sender.send('POST /hooks/agent HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`)
    sender.send('', `Content-Length: ${body.length}`, '', body)
    await reached.promise
    // A WeakRef keeps what it refers to until the turn of the event loop in which it was made is over.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    assert.deepEqual(
      payloads.map((payload) => payload.deref()),
      [undefined],
    )
    commit.resolve()
    assert.match(await sender.received('runId'), /202 Accepted/)
  })
}
