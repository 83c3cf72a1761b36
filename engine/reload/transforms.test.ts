/** Tests candidates with transforms and tests, of which something waits: the rest is scripts in rollback.test.ts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot } from '../compile/snapshot.ts'
import type { ReloaderOptions } from './reloader.ts'
import { createBench, place } from './scripts-fixture.ts'

/** Makes `b1` live. */
async function startBench(parts: Partial<ReloaderOptions> = {}) {
  const bench = createBench(undefined, parts)
  bench.world.bundle = 'b1'
  await bench.reloader.start()
  bench.world.bundle = 'b2'
  return bench
}

test('a candidate that cannot be bundled is refused with its place, and files that may fix it are watched', async () => {
  const sets: (readonly string[])[] = []
  const { reloader, world } = await startBench({
    watch: () => ({
      watch: (paths: readonly string[]) => void sets.push(paths),
      configure: () => {},
      close: async () => {},
    }),
  })
  world.fault = 'bundle'
  const result = await reloader.reload()
  assert.deepEqual([result.outcome, result.diagnostics[0]?.place], ['rejected', place])
  assert.ok(sets.at(-1)?.includes(place.file))
})

test('a dry run does not change the live snapshot, and releases its resources', async () => {
  const prepared: string[] = []
  const { reloader, story, world } = await startBench({
    prepare: () => ({
      commit: () => void prepared.push('commit'),
      discard: () => void prepared.push('discard'),
    }),
  })
  const { result, seen } = await reloader.dryRun(async ({ live, candidate }) => [
    live.digest,
    candidate.digest,
  ])
  assert.equal(result.outcome, 'live')
  assert.deepEqual(seen, [reloader.current().snapshot.digest, result.digest])
  assert.equal(reloader.current().generation, 1)
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2'])
  assert.deepEqual(prepared, ['commit', 'discard'])
  world.fault = 'test'
  const refused = await reloader.dryRun(async () => assert.fail('there is nothing to look at'))
  assert.deepEqual([refused.result.outcome, refused.seen], ['rejected', undefined])
  assert.equal(reloader.generations().length, 1, 'a look is no reload, and leaves no record')
})

/** Makes `b1` live, with the tests of `b2` running until they are given up. */
async function reloadEndlessly() {
  const begun = Promise.withResolvers<void>()
  let runs = 0
  const bench = await startBench({
    async test(_source: unknown, _snapshot: Snapshot, isGivenUp: () => boolean) {
      if (++runs !== 2) return []
      begun.resolve()
      while (!isGivenUp()) await new Promise(setImmediate)
      return []
    },
  })
  const endless = bench.reloader.reload()
  await begun.promise
  return { ...bench, endless }
}

const limit = { timeout: 30_000 }

test('a later change does not wait for the tests of an earlier one', limit, async () => {
  const { reloader, story, world, endless } = await reloadEndlessly()
  world.bundle = 'b3'
  assert.equal(await reloader.reload(), await endless)
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2', 'open b3', 'release b1'])
})

test('a rollback does not wait for tests, and holds back the change that they test', limit, async () => {
  const { reloader, story, endless } = await reloadEndlessly()
  const back = reloader.rollback(1)
  assert.equal((await endless).diagnostics[0]?.code, 'OVERRULED')
  assert.deepEqual([(await back).outcome, reloader.current().generation], ['unchanged', 1])
  assert.equal((await reloader.reload()).outcome, 'unchanged', 'the files are still those of b2')
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2'])
})

test('closing waits neither for tests nor for a dry run', limit, async () => {
  const { reloader, story, endless } = await reloadEndlessly()
  await reloader.close()
  assert.equal((await endless).diagnostics[0]?.code, 'RELOADER_CLOSED')
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2', 'release b1'])

  const other = await startBench()
  const looking = Promise.withResolvers<void>()
  const look = other.reloader.dryRun(async ({ isGivenUp }) => {
    looking.resolve()
    while (!isGivenUp()) await new Promise(setImmediate)
    return 'seen'
  })
  await looking.promise
  await other.reloader.close()
  assert.equal((await look).seen, 'seen')
})
