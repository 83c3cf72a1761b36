import assert from 'node:assert/strict'
import test from 'node:test'
import type { Compiled } from '../compile/compile-snapshot.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, Loaded } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Settings } from '../config/settings.ts'
import type { ReloadEvent } from './reload-event.ts'
import { createReloader, type ReloaderOptions } from './reloader.ts'
import type { WatchOptions } from './watcher.ts'

const bad: Diagnostic = { severity: 'error', code: 'UNKNOWN_KEY', message: 'no such key' }

function loadedWith(
  digest: string,
  gateway: Partial<Settings['gateway']> = {},
  text = `${digest}\n`,
): Loaded {
  const settings = {
    gateway: { host: 'h', port: 1, dataDir: '/d', store: 'sqlite', log: {}, limits: {}, ...gateway },
    history: {},
    agents: { defaults: {} },
    hooks: { transforms: { defaults: {}, modules: {} }, reload: { requireTests: true, restMs: 1000 } },
  } as unknown as Settings
  const configuration = {
    settings,
    digest,
    mappings: [],
    endpoints: {},
    warnings: [],
    secrets: [],
    sources: new Map([['/etc/reveille.yaml', text]]),
    watched: [`/watched/${digest}`],
  }
  return { ok: true, configuration: configuration as unknown as Configuration }
}

function failedLoad(): Loaded {
  return { ok: false, diagnostics: [bad], watched: ['/watched/bad'], digest: 'bad' }
}

/** Makes a compiler that keeps its input. The real one has its own tests. */
const compile = ({ digest, settings }: Configuration): Compiled => ({
  ok: true,
  warnings: [],
  snapshot: { digest, settings, mappings: [] } as unknown as Snapshot,
})

/** Makes a reloader whose loads are answered by the test, one after the other. */
function createBench(options: Partial<ReloaderOptions> = {}) {
  const loads: PromiseWithResolvers<Loaded>[] = []
  const begun: (() => void)[] = []
  const events: ReloadEvent[] = []
  const sets: string[][] = []
  let watching: WatchOptions | undefined
  let closedWatcher = false
  const reloader = createReloader({
    load() {
      const load = Promise.withResolvers<Loaded>()
      loads.push(load)
      for (const lastEvent of begun.splice(0)) lastEvent()
      return load.promise
    },
    compile,
    now: () => 0,
    watch(watchOptions) {
      watching = watchOptions
      return {
        watch: (paths: readonly string[]) => sets.push([...paths]),
        configure: () => {},
        close: async () => {
          closedWatcher = true
        },
      }
    },
    ...options,
  })
  reloader.subscribe((event) => events.push(event))
  async function began(index: number): Promise<void> {
    while (loads.length <= index) await new Promise<void>((lastEvent) => begun.push(lastEvent))
  }
  return {
    reloader,
    events,
    sets,
    loads,
    types: () => events.map(({ type }) => type),
    change: () => watching?.onChange(),
    isWatcherClosed: () => closedWatcher,
    began,
    /** Answers the load with number `index`, after waiting for it to begin. */
    async answer(index: number, loaded: Loaded) {
      await began(index)
      loads[index]?.resolve(loaded)
    },
    async start(digest = 'one') {
      const started = reloader.start()
      loads[0]?.resolve(loadedWith(digest))
      await started
    },
  }
}

test('the first load makes generation 1 and begins to watch', async () => {
  const { reloader, start, events, sets } = createBench()
  assert.throws(() => reloader.current())
  await start()
  assert.equal(reloader.current().generation, 1)
  assert.deepEqual(
    events.map(({ type, ...facts }) => [type, 'digest' in facts && facts.digest]),
    [['snapshot-swapped', 'one']],
  )
  assert.deepEqual(sets, [['/watched/one']])
})

test('a first load that fails leaves nothing live and watches nothing', async () => {
  const { reloader, answer, sets } = createBench()
  const started = reloader.start()
  await answer(0, failedLoad())
  const { ok, outcome, generation, diagnostics } = await started
  assert.deepEqual([ok, outcome, generation, diagnostics], [false, 'rejected', undefined, [bad]])
  assert.throws(() => reloader.current())
  assert.deepEqual(sets, [])
})

test('a good candidate replaces the snapshot as a whole, and a holder of the old snapshot keeps it', async () => {
  const { reloader, start, answer } = createBench()
  await start()
  const { current } = reloader
  const before = current()
  const reloaded = reloader.reload()
  await answer(1, loadedWith('two'))
  const result = await reloaded
  assert.deepEqual([result.outcome, result.generation, result.digest], ['live', 2, 'two'])
  assert.equal(before.snapshot.digest, 'one')
  assert.deepEqual([current().generation, current().snapshot.digest], [2, 'two'])
  assert.ok(Object.isFrozen(current()))
})

test('a failed load still adds to the watched paths', async () => {
  const { reloader, start, answer, sets } = createBench()
  await start()
  const reloaded = reloader.reload()
  await answer(1, failedLoad())
  await reloaded
  assert.deepEqual(sets, [['/watched/one'], ['/watched/bad']])
})

test('callers during a load share the next one, and the outdated load is given up', async () => {
  const { reloader, start, answer, loads, types } = createBench()
  await start()
  const first = reloader.reload()
  const second = reloader.reload()
  const third = reloader.reload()
  await answer(1, loadedWith('stale'))
  await answer(2, loadedWith('fresh'))
  const results = await Promise.all([first, second, third])
  for (const result of results) assert.equal(result.digest, 'fresh')
  assert.equal(loads.length, 3)
  assert.equal(reloader.current().generation, 2)
  assert.deepEqual(types(), ['snapshot-swapped', 'snapshot-swapped'])
})

test('files that change constantly cannot keep a candidate from going live forever', async () => {
  const { reloader, start, began, answer } = createBench()
  await start()
  const first = reloader.reload()
  const later = []
  for (let round = 1; round <= 3; round++) {
    await began(round)
    later.push(reloader.reload())
    await answer(round, loadedWith(`round-${round}`))
  }
  const result = await first
  assert.equal(result.digest, 'round-3')
  assert.equal(reloader.current().generation, 2)
  await answer(4, loadedWith('rested'))
  await Promise.all(later)
  assert.equal(reloader.current().snapshot.digest, 'rested')
})

test('the host prepares before the swap, and releases the old snapshot after it', async () => {
  const story: string[] = []
  const { reloader, start, answer } = createBench({
    async prepare({ digest }) {
      story.push(`prepare ${digest}`)
      return {
        commit() {
          story.push(`commit ${digest}, ${reloader.current().snapshot.digest} is live`)
        },
        discard() {
          story.push(`discard ${digest}`)
        },
      }
    },
  })
  await start()
  const reloaded = reloader.reload()
  await answer(1, loadedWith('two'))
  await reloaded
  assert.deepEqual(story, [
    'prepare one',
    'commit one, one is live',
    'prepare two',
    'commit two, two is live',
  ])
})

test('a commit that fails is reported and changes nothing', async () => {
  const { reloader, start, types } = createBench({
    prepare: () => ({
      commit() {
        throw new Error('would not close')
      },
      discard() {},
    }),
  })
  await start()
  assert.equal(reloader.current().generation, 1)
  assert.deepEqual(types(), ['snapshot-swapped', 'release-failed'])
})

test('closing discards a candidate that is being prepared, and ends watching', async () => {
  const preparing = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const story: string[] = []
  const { reloader, start, answer, isWatcherClosed } = createBench({
    async prepare({ digest }) {
      if (digest === 'two') {
        preparing.resolve()
        await finish.promise
      }
      return {
        commit: () => void story.push(`commit ${digest}`),
        discard: () => void story.push(`discard ${digest}`),
      }
    },
  })
  await start()
  const reloaded = reloader.reload()
  await answer(1, loadedWith('two'))
  await preparing.promise
  const closed = reloader.close()
  finish.resolve()
  await closed
  assert.equal((await reloaded).ok, false)
  assert.deepEqual(story, ['commit one', 'discard two'])
  assert.equal(reloader.current().generation, 1)
  assert.ok(isWatcherClosed())
  await assert.rejects(reloader.reload())
})

test('a subscription can be ended', async () => {
  const { reloader, start, answer } = createBench()
  let heard = 0
  const end = reloader.subscribe(() => heard++)
  await start()
  end()
  const reloaded = reloader.reload()
  await answer(1, loadedWith('two'))
  await reloaded
  assert.equal(heard, 1)
})

test('files that may be half saved go live once they have stayed the same, or when an operator asks', async () => {
  let started = Promise.withResolvers<() => void>()
  const cancelled: number[] = []
  const after = (ms: number, act: () => void) => {
    started.resolve(act)
    return () => void cancelled.push(ms)
  }
  const { reloader, start, answer, change } = createBench({ after })
  const live = () => reloader.current().snapshot.digest
  const changeTo = async (index: number, digest: string) => {
    started = Promise.withResolvers()
    change()
    await answer(index, loadedWith(digest, {}, `${digest} without an end`))
    return started.promise
  }
  await start()
  await changeTo(1, 'tw')
  const rested = await changeTo(2, 'two')
  assert.deepEqual(cancelled, [1000], 'the rest begins again with other content')
  assert.equal(live(), 'one')
  const swapped = new Promise<void>((resolve) => {
    reloader.subscribe(({ type }) => type === 'snapshot-swapped' && resolve())
  })
  rested()
  await answer(3, loadedWith('two', {}, 'two without an end'))
  await swapped
  assert.equal(live(), 'two')

  await changeTo(4, 'three')
  const asked = reloader.reload()
  await answer(5, loadedWith('three', {}, 'three without an end'))
  assert.deepEqual([(await asked).outcome, live()], ['live', 'three'])
})
