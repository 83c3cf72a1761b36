/** Tests candidates with transforms and tests: what was started for a refused candidate is released, whatever refuses it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configurationOf, type Mapping } from '../compile/fixture.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, Loaded } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Bundle, Bundled, LoadFailure, OpenedModule } from '../transform/port.ts'
import { createReloader, type ReloaderOptions } from './reloader.ts'

const place = { file: '/etc/reveille/transforms/review.ts', line: 1, column: 1, text: '' }
const bad: Diagnostic = { severity: 'error', code: 'BAD', message: 'bad' }
const mapping: Mapping = { id: 'review', transform: { module: 'review.ts' } }

function bundleOf(digest: string): Bundle {
  return { module: 'review.ts', digest, file: `/data/${digest}.mjs` }
}

/** Makes one mapping with a transform. The test sets the result of each round. */
function createBench(parts: Partial<ReloaderOptions> = {}) {
  const story: string[] = []
  const world = {
    configuration: 'c1',
    bundle: 'b1',
    requireTests: true,
    failures: [] as LoadFailure[],
    failedTests: [] as Diagnostic[],
    bundled: undefined as Bundled | undefined,
  }
  const reloader = createReloader({
    now: () => 0,
    async load(): Promise<Loaded> {
      const reload = { requireTests: world.requireTests, debounceMs: 50, restMs: 1000, poll: false }
      const configuration = {
        ...configurationOf([mapping], { hooks: { reload } }),
        digest: world.configuration,
      }
      return { ok: true, configuration }
    },
    bundle: async () =>
      world.bundled ?? {
        ok: true,
        bundles: new Map([['review.ts', bundleOf(world.bundle)]]),
        watched: [place.file],
      },
    openTransforms([opened]: readonly OpenedModule[]) {
      const { digest } = opened?.bundle ?? { digest: 'none' }
      story.push(`open ${digest}`)
      return {
        bind: () => async () => ({ kind: 'one', action: undefined }) as const,
        start: async () => world.failures,
        release: () => void story.push(`release ${digest}`),
      }
    },
    compile: ({ digest, settings }: Configuration) => ({
      ok: true,
      warnings: [],
      snapshot: { digest, settings, mappings: [] } as unknown as Snapshot,
    }),
    test: async () => world.failedTests,
    ...parts,
  })
  return { reloader, story, world }
}

test('a changed bundle makes another generation, and the old bundle is released after the swap', async () => {
  const { reloader, story, world } = createBench()
  const first = await reloader.start()
  world.bundle = 'b2'
  const second = await reloader.reload()
  assert.notEqual(first.digest, second.digest)
  assert.deepEqual([second.outcome, second.generation], ['live', 2])
  assert.deepEqual(second.changes.transforms, { added: [], changed: ['review.ts'], removed: [] })
  assert.deepEqual(story, ['open b1', 'open b2', 'release b1'])
})

test('an unchanged bundle makes no generation, and nothing is opened for it', async () => {
  const { reloader, story } = createBench()
  await reloader.start()
  assert.equal((await reloader.reload()).outcome, 'unchanged')
  assert.deepEqual(story, ['open b1'])
})

const refusals: Readonly<Record<string, (bench: ReturnType<typeof createBench>['world']) => void>> = {
  'that cannot be loaded': (world) => {
    world.failures = [{ module: 'review.ts', message: 'review.ts: Error: no', place }]
  },
  'whose tests fail': (world) => {
    world.failedTests = [{ ...bad, code: 'TEST_FAILED' }]
  },
}

for (const [what, spoil] of Object.entries(refusals)) {
  test(`a candidate ${what} is refused, and its transforms are released`, async () => {
    const { reloader, story, world } = createBench()
    await reloader.start()
    world.bundle = 'b2'
    spoil(world)
    const result = await reloader.reload()
    assert.deepEqual([result.outcome, result.generation], ['rejected', 1])
    assert.match(String(result.diagnostics[0]?.code), /^(TEST_FAILED|TRANSFORM_NOT_LOADED)$/)
    assert.deepEqual(story, ['open b1', 'open b2', 'release b2'])
    assert.deepEqual(
      reloader
        .generations()
        .map(({ state }) => state)
        .sort(),
      ['live', 'rejected'],
    )
  })
}

test('a warning about a test is reported and refuses nothing', async () => {
  const { reloader, world } = createBench()
  await reloader.start()
  world.bundle = 'b2'
  world.failedTests = [{ ...bad, severity: 'warning', code: 'TEST_CALLS_OUT' }]
  const result = await reloader.reload()
  assert.equal(result.outcome, 'live')
  assert.deepEqual(result.diagnostics, world.failedTests)
})

test('a candidate that cannot be bundled is refused with its place, and files that may fix it are watched', async () => {
  const sets: (readonly string[])[] = []
  const { reloader, world } = createBench({
    watch: () => ({
      watch: (paths: readonly string[]) => void sets.push(paths),
      configure: () => {},
      close: async () => {},
    }),
  })
  await reloader.start()
  world.bundled = {
    ok: false,
    diagnostics: [{ ...bad, code: 'IMPORT_NOT_FOUND', place }],
    watched: ['/missing.ts'],
  }
  const result = await reloader.reload()
  assert.deepEqual([result.outcome, result.diagnostics[0]?.place], ['rejected', place])
  assert.ok(sets.at(-1)?.includes('/missing.ts'))
})

test('failing tests are a warning if the operator does not require them, or if there is no earlier snapshot', async () => {
  const { reloader, world } = createBench()
  world.failedTests = [bad]
  const first = await reloader.start()
  assert.deepEqual([first.outcome, first.diagnostics[0]?.severity], ['live', 'warning'])
  world.bundle = 'b2'
  assert.equal((await reloader.reload()).outcome, 'rejected')
  world.requireTests = false
  const allowed = await reloader.reload()
  assert.deepEqual([allowed.outcome, allowed.diagnostics[0]?.severity], ['live', 'warning'])
})

test('a dry run does not change the live snapshot, and releases what it opened', async () => {
  const { reloader, story, world } = createBench({
    prepare: () => ({ commit: () => void story.push('commit'), discard: () => void story.push('discard') }),
  })
  await reloader.start()
  world.bundle = 'b2'
  const { result, seen } = await reloader.dryRun(async ({ live, candidate }) => [
    live.digest,
    candidate.digest,
  ])
  assert.equal(result.outcome, 'live')
  assert.deepEqual(seen, [reloader.current().snapshot.digest, result.digest])
  assert.equal(reloader.current().generation, 1)
  assert.deepEqual(story, ['open b1', 'commit', 'open b2', 'discard', 'release b2'])
  world.failedTests = [bad]
  const refused = await reloader.dryRun(async () => assert.fail('there is nothing to look at'))
  assert.deepEqual([refused.result.outcome, refused.seen], ['rejected', undefined])
  assert.equal(reloader.generations().length, 1, 'a look is no reload, and leaves no record')
})

test('closing releases the live snapshot', async () => {
  const { reloader, story } = createBench()
  await reloader.start()
  await reloader.close()
  assert.deepEqual(story, ['open b1', 'release b1'])
})

test('a transform that breaks in another way is another change, even if nothing else changed', async () => {
  const { reloader, world } = createBench()
  await reloader.start()
  world.bundle = 'b2'
  await reloader.reload()
  const brokenBy = (message: string): Bundled => ({
    ok: false,
    diagnostics: [{ ...bad, message, place }],
    watched: [place.file],
  })
  world.bundled = brokenBy('one')
  const first = await reloader.reload()
  await reloader.rollback(1)
  assert.equal((await reloader.reload()).outcome, 'unchanged', 'it was rolled back from')
  world.bundled = brokenBy('another')
  const second = await reloader.reload()
  assert.deepEqual([second.outcome, second.diagnostics[0]?.message], ['rejected', 'another'])
  assert.notEqual(second.digest, first.digest)
})

/** Makes tests that run until they are given up. Those of the second candidate end with a result. */
function createEndlessTests() {
  const begun = Promise.withResolvers<void>()
  let runs = 0
  return {
    begun: begun.promise,
    async test(_source: unknown, _snapshot: Snapshot, isGivenUp: () => boolean) {
      if (++runs !== 2) return []
      begun.resolve()
      while (!isGivenUp()) await new Promise(setImmediate)
      return []
    },
  }
}

/** Makes `b1` live, with the tests of `b2` running. */
async function reloadEndlessly() {
  const { begun, test } = createEndlessTests()
  const bench = createBench({ test })
  await bench.reloader.start()
  bench.world.bundle = 'b2'
  const endless = bench.reloader.reload()
  await begun
  return { ...bench, endless }
}

test('a later change does not wait for the tests of an earlier one', { timeout: 30_000 }, async () => {
  const { reloader, story, world, endless } = await reloadEndlessly()
  world.bundle = 'b3'
  assert.equal(await reloader.reload(), await endless)
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2', 'open b3', 'release b1'])
})

test('a rollback does not wait for tests, and holds back the change that they test', {
  timeout: 30_000,
}, async () => {
  const { reloader, story, endless } = await reloadEndlessly()
  const back = reloader.rollback(1)
  assert.deepEqual(
    (await endless).diagnostics.map(({ code }) => code),
    ['OVERRULED'],
  )
  assert.deepEqual([(await back).outcome, reloader.current().generation], ['unchanged', 1])
  assert.equal((await reloader.reload()).outcome, 'unchanged', 'the files are still those of b2')
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2'])
})

test('closing waits neither for tests nor for a dry run', { timeout: 30_000 }, async () => {
  const { reloader, story, endless } = await reloadEndlessly()
  await reloader.close()
  assert.deepEqual(
    (await endless).diagnostics.map(({ code }) => code),
    ['RELOADER_CLOSED'],
  )
  assert.deepEqual(story, ['open b1', 'open b2', 'release b2', 'release b1'])

  const other = createBench()
  await other.reloader.start()
  other.world.bundle = 'b2'
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
