import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReloaderOptions } from './reloader.ts'
import { createBench as createScripted } from './scripts-fixture.ts'
import type { WatchOptions } from './watcher.ts'

/** Makes a reloader whose loads wait for the test, one after the other. */
function createBench(options: Partial<ReloaderOptions> = {}) {
  const loads: PromiseWithResolvers<void>[] = []
  const begun: (() => void)[] = []
  const sets: (readonly string[])[] = []
  let watching: WatchOptions | undefined
  const { reloader, world, events, live } = createScripted(undefined, {
    watch(watchOptions) {
      watching = watchOptions
      const close = async () => {
        watching = undefined
      }
      return { watch: (paths: readonly string[]) => sets.push(paths), configure: () => {}, close }
    },
    ...options,
  })
  world.beforeLoad = async () => {
    const load = Promise.withResolvers<void>()
    loads.push(load)
    for (const lastEvent of begun.splice(0)) lastEvent()
    await load.promise
  }
  async function began(index: number): Promise<void> {
    while (loads.length <= index) await new Promise<void>((lastEvent) => begun.push(lastEvent))
  }
  /** Lets the load with number `index` find this text, after waiting for it to begin. */
  async function answer(index: number, text: string) {
    await began(index)
    world.text = text
    loads[index]?.resolve()
  }
  return {
    ...{ reloader, sets, loads, live, began, answer },
    types: () => events.map(({ type }) => type),
    change: () => watching?.onChange(),
    isWatching: () => watching !== undefined,
    async start(text = 'one') {
      const started = reloader.start()
      await answer(0, text)
      return started
    },
    async reload(index: number, text: string) {
      const reloaded = reloader.reload()
      await answer(index, text)
      return reloaded
    },
  }
}

test('the first load makes generation 1 and begins to watch, and a failed load adds to the watched paths', async () => {
  const { reloader, start, reload, types, sets } = createBench()
  assert.throws(() => reloader.current())
  await start()
  assert.deepEqual([reloader.current().generation, types()], [1, ['snapshot-swapped']])
  await reload(1, 'broken')
  const both = ['/etc/reveille.yaml', '/etc/broken']
  assert.deepEqual(sets, [['/etc/reveille.yaml', '/etc/one'], both])
})

test('a first load that fails leaves nothing live and watches nothing', async () => {
  const { reloader, start, sets } = createBench()
  const { ok, outcome, generation, diagnostics } = await start('broken')
  assert.deepEqual([ok, outcome, generation, diagnostics[0]?.code], [false, 'rejected', undefined, 'BAD'])
  assert.throws(() => reloader.current())
  assert.deepEqual(sets, [])
})

test('a good candidate replaces the snapshot as a whole, and a holder of the old snapshot keeps it', async () => {
  const { reloader, start, reload, live } = createBench()
  let heard = 0
  const end = reloader.subscribe(() => heard++)
  await start()
  end()
  const before = reloader.current()
  const { outcome, generation, digest } = await reload(1, 'two')
  assert.deepEqual([outcome, generation, digest, heard], ['live', 2, 'two s', 1])
  assert.deepEqual([before.snapshot.digest, live()], ['one s', ['two', 2]])
  assert.ok(Object.isFrozen(reloader.current()))
})

test('callers during a load share the next one, and the outdated load is given up', async () => {
  const { reloader, start, answer, loads, live, types } = createBench()
  await start()
  const asked = [reloader.reload(), reloader.reload(), reloader.reload()]
  await answer(1, 'stale')
  await answer(2, 'fresh')
  for (const result of await Promise.all(asked)) assert.equal(result.digest, 'fresh s')
  assert.deepEqual([loads.length, live()], [3, ['fresh', 2]])
  assert.deepEqual(types(), ['snapshot-swapped', 'snapshot-swapped'])
})

test('files that change constantly cannot keep a candidate from going live forever', async () => {
  const { reloader, start, began, answer, live } = createBench()
  await start()
  const first = reloader.reload()
  const later = []
  for (let round = 1; round <= 3; round++) {
    await began(round)
    later.push(reloader.reload())
    await answer(round, `round-${round}`)
  }
  assert.equal((await first).digest, 'round-3 s')
  assert.deepEqual(live(), ['round-3', 2])
  await answer(4, 'rested')
  await Promise.all(later)
  assert.equal(live()[0], 'rested')
})

test('the host prepares before the swap, and releases the old snapshot after it; a commit that fails changes nothing', async () => {
  const story: string[] = []
  const bench = createBench({
    prepare: async ({ digest }) => ({
      commit() {
        story.push(`commit ${digest}, ${bench.live()[0]} is live`)
        if (digest === 'two s') throw new Error('would not close')
      },
      discard: () => void story.push(`discard ${digest}`),
    }),
  })
  await bench.start()
  await bench.reload(1, 'two')
  assert.deepEqual(story, ['commit one s, one is live', 'commit two s, two is live'])
  assert.deepEqual(bench.live(), ['two', 2])
  assert.deepEqual(bench.types(), ['snapshot-swapped', 'snapshot-swapped', 'release-failed'])
})

test('closing discards a candidate that is being prepared, and ends watching', async () => {
  const preparing = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const story: string[] = []
  const { reloader, start, reload, live, isWatching } = createBench({
    async prepare({ digest }) {
      if (digest === 'two s') {
        preparing.resolve()
        await finish.promise
      }
      const note = (what: string) => () => void story.push(`${what} ${digest}`)
      return { commit: note('commit'), discard: note('discard') }
    },
  })
  await start()
  const reloaded = reload(1, 'two')
  await preparing.promise
  const closed = reloader.close()
  finish.resolve()
  await closed
  assert.equal((await reloaded).ok, false)
  assert.deepEqual([story, live(), isWatching()], [['commit one s', 'discard two s'], ['one', 1], false])
  await assert.rejects(reloader.reload())
})

test('files that may be half saved go live once they have stayed the same, or when an operator asks', async () => {
  let started = Promise.withResolvers<() => void>()
  const cancelled: number[] = []
  const after = (ms: number, act: () => void) => {
    started.resolve(act)
    return () => void cancelled.push(ms)
  }
  const { reloader, start, reload, answer, change, live } = createBench({ after })
  const changeTo = async (index: number, text: string) => {
    started = Promise.withResolvers()
    change()
    await answer(index, text)
    return started.promise
  }
  await start('one\n')
  await changeTo(1, 'tw')
  const rested = await changeTo(2, 'two')
  assert.deepEqual(cancelled, [1000], 'the rest begins again with other content')
  assert.equal(live()[0], 'one\n')
  const swapped = new Promise<void>((resolve) => {
    reloader.subscribe(({ type }) => type === 'snapshot-swapped' && resolve())
  })
  rested()
  await answer(3, 'two')
  await swapped
  assert.equal(live()[0], 'two')

  await changeTo(4, 'three')
  assert.equal((await reload(5, 'three')).outcome, 'live')
  assert.equal(live()[0], 'three')
})
