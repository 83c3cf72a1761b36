/** Tests what every source must do. */

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Plugin } from '../plugin.ts'
import { PluginError } from '../plugin-error.ts'
import { assertNoSecret, assertPluginError, assertSentence } from './assertions.ts'
import { until, within } from './deadline.ts'
import { leaksOf, openResources } from './handles.ts'
import { assertInertPlugin } from './import.ts'
import { fillIn, load } from './opened-vendor.ts'
import { openSource, type Running, type SourceHost, type SourceSetup } from './source-host.ts'

export type { SourceFixture } from './source-host.ts'

export interface SourceConformance extends SourceSetup {
  /** The name of the suite in the report. */
  readonly name: string
}

/** Milliseconds to wait for something that should not happen. */
const whileMs = 30
/** At how many uses of the host runs are aborted, one after the other. */
const steps = 12

export function sourceConformance({ name, ...setup }: SourceConformance): void {
  describe(name, () => {
    for (const promise of Object.keys(sourceTests)) test(promise, (t) => sourceTest(promise, setup, t))
  })
}

/** One of the tests, by its name. */
export async function sourceTest(promise: string, setup: SourceSetup, t: TestContext): Promise<void> {
  await using host = await openSource(setup)
  await sourceTests[promise]?.(host, setup, t)
}

/** The tests by name. */
const sourceTests: Readonly<
  Record<string, (host: SourceHost, setup: SourceSetup, t: TestContext) => Promise<void>>
> = {
  async 'reports that it works, and posts events'(host) {
    const running = await host.beginWell()
    for (let count = 0; count < 3; count += 1) await host.untilTaken(running, await host.happen())
  },

  async 'posts events that happened while it did not run'(host) {
    await end(await host.beginWell())
    const id = await host.happen()
    await host.untilTaken(await host.begin(), id)
  },

  async 'posts an event once that was taken'(host) {
    const running = await host.beginWell()
    const ids = [await host.happen(), await host.happen()]
    await host.untilTaken(running, ...ids)
    await pause(whileMs)
    await end(running)
    const again = await host.beginWell()
    const last = await host.happen()
    await host.untilTaken(again, last)
    assert.deepEqual(host.posts.flatMap((post) => post.ids).sort(), [...ids, last].sort())
  },

  async 'posts an event again that the gateway could not take'(host) {
    const running = await host.beginWell()
    const troubles = [503, 429, 404, undefined, 500]
    host.answer(() => {
      if (troubles.length === 0) return { status: 202 }
      const status = troubles.shift()
      if (status !== undefined) return { status, code: 'TROUBLE', message: 'Not now.', retryAfter: 1 }
      throw new PluginError('The gateway cannot be reached.', { code: 'network', retryable: true })
    })
    await host.untilTaken(running, await host.happen())
    assert.deepEqual(troubles, [])
  },

  async 'continues with the others if one event cannot be fetched or is refused'(host) {
    const running = await host.beginWell()
    const bad = await host.happen()
    host.answer((ids) => ({ status: ids.includes(bad) ? 400 : 202, code: 'PAYLOAD_SCHEMA', message: 'No.' }))
    await host.untilTaken(running, await host.happen(), await host.happen())
  },

  async 'respects the limits of one request'(host) {
    host.limits = { maxBodyBytes: 20_000, maxActions: 5, maxRenderedBytes: 1_000_000 }
    await end(await host.beginWell())
    const ids: string[] = []
    for (let count = 0; count < 12; count += 1) ids.push(await host.happen())
    await host.untilTaken(await host.begin(), ...ids)
    for (const { body, ids: posted } of host.posts) {
      assert.ok(posted.length <= 5, 'a post has no more events than actions may come of it')
      assert.ok(JSON.stringify(body).length <= 20_000, 'a post is no larger than a body may be')
    }
  },

  async 'continues from its storage, wherever it was aborted'(host) {
    await assertGoesOn(host, (running) => running.abort())
  },

  async 'continues from its storage, wherever it was killed'(host) {
    await assertGoesOn(host, (running) => running.cut())
  },

  async 'ends soon when aborted'(host) {
    const running = await host.beginWell()
    await pause(whileMs)
    await end(running)
  },

  async 'ends soon when aborted before it begins'(host) {
    await end(await host.beginCalledOff())
  },

  async 'ends soon when aborted while its service is silent'(host, _setup, t) {
    if (host.fixture.stall === undefined) return t.skip('the fixture has no service that could stall')
    const running = await host.beginWell()
    host.fixture.stall()
    await pause(whileMs)
    await end(running)
    const again = await host.begin()
    await pause(whileMs)
    await end(again)
  },

  async 'ends soon when aborted while the gateway is silent'(host) {
    const running = await host.beginWell()
    const asked = Promise.withResolvers<void>()
    host.answer(
      (_ids, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          asked.resolve()
        }),
    )
    await host.happen()
    await within(asked.promise, 'the event is posted')
    await end(running)
  },

  async 'does nothing after it has ended'(host) {
    const running = await host.beginWell()
    await host.untilTaken(running, await host.happen())
    await end(running)
    const before = host.posts.length
    await host.happen()
    await pause(whileMs)
    assert.deepEqual(host.late, [], 'it makes no use of what it was given')
    assert.equal(host.posts.length, before)
  },

  async 'has no effect at setup'(host, setup) {
    const { plugin, schema } = await load(setup.plugin)
    const before = await openResources()
    const touched: string[] = []
    const note = (what: string) => () => void touched.push(what)
    const { signal } = new AbortController()
    const provided = await (plugin as Plugin).setup({
      config: Object.freeze(fillIn(schema, host.fixture.config)),
      log: { info: note('log'), warn: note('log'), error: note('log') },
      fetch: async () => {
        touched.push('fetch')
        throw new Error('no fetch at setup')
      },
      signal,
    })
    try {
      assert.deepEqual(touched, [])
      assert.deepEqual(getEventListeners(signal, 'abort'), [], 'no listeners are left')
      assert.deepEqual(await leaksOf(before), [], 'nothing is open')
    } finally {
      await provided.close?.()
    }
  },

  async 'reports in sentences and numbers'(host) {
    await workAndFail(host)
    for (const { state, detail, times = {}, counts = {} } of host.reports) {
      assert.ok(['working', 'failing', 'waiting'].includes(state), `${state} is a state`)
      assertSentence(detail, 'the detail')
      for (const [name, value] of Object.entries({ ...times, ...counts })) {
        assert.match(name, /^[a-zA-Z]\w{0,40}$/)
        assert.ok(Number.isFinite(value), `${name} is a number`)
      }
    }
  },

  async 'reports what is wrong when its service fails, or throws a PluginError'(host, _setup, t) {
    if (host.fixture.fail === undefined) return t.skip('the fixture has no service that could fail')
    host.fixture.fail()
    const running = await host.begin()
    await until(
      () => running.thrown.length > 0 || host.reports.some(({ state }) => state !== 'working'),
      () => 'something is said',
    )
    await end(running)
    for (const error of running.thrown) {
      const { message } = await assertPluginError(Promise.reject(error), host.fixture.secrets ?? [])
      assertSentence(message, 'the error’s message')
    }
  },

  async 'shows no secret to the gateway and its log'(host) {
    const running = await workAndFail(host)
    const said = JSON.stringify([host.posts, host.reports, host.lines, running.thrown.map(String)])
    assertNoSecret(said, host.fixture.secrets ?? [])
  },

  async 'leaves no timer and no listener behind a run'(host) {
    const before = await openResources()
    const running = await host.beginWell()
    await host.untilTaken(running, await host.happen())
    await end(running)
    assert.equal(host.clock.sleeping, 0, 'no sleep is waiting')
    assert.deepEqual(await leaksOf(before, ['Timeout']), [])
    assert.equal(running.listeners(), 0, 'no listeners are left on the signal')
  },

  async 'leaves nothing open after close'(_host, setup) {
    const before = await openResources()
    {
      await using host = await openSource(setup)
      const running = await host.beginWell()
      await host.untilTaken(running, await host.happen())
      await end(running)
    }
    assert.deepEqual(await leaksOf(before), [])
  },

  'does nothing on import': (_host, { plugin }) => assertInertPlugin(plugin),
}

/** Returns a finished run whose service failed after a good start. */
async function workAndFail(host: SourceHost): Promise<Running> {
  const running = await host.beginWell()
  await host.untilTaken(running, await host.happen())
  host.fixture.fail?.()
  await pause(whileMs)
  await end(running)
  return running
}

async function end(running: Running): Promise<void> {
  running.abort()
  await within(running.ended, 'a source that is called off ends')
}

/** Ends the first run at its first use of the host, the next one at its second, and so on, until all events have been posted. */
async function assertGoesOn(host: SourceHost, stop: (running: Running) => void): Promise<void> {
  await end(await host.beginWell())
  const ids: string[] = []
  for (let last = 1; last <= steps; last += 1) {
    ids.push(await host.happen(), await host.happen())
    const running = await host.begin((step, begun) => {
      if (step === last) stop(begun)
    })
    await Promise.race([running.ended, pause(whileMs)])
    stop(running)
    await within(running.ended, `a source that is called off at its step ${last} ends`)
  }
  await host.untilTaken(await host.begin(), ...ids)
}
