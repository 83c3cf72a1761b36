/** Tests reloads and the way back to a kept generation, as scripts: each step with its outcome (see the fixture). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { noChanges } from './changes.ts'
import { createMemoryArchive } from './memory-archive-fixture.ts'
import { createBench, runScript, states, withThree } from './scripts-fixture.ts'

const scripts = `
# an old generation goes live again under its own number, and is reported as a rollback
rollback 1 → live* 1 one
# a reload of unchanged files leaves the rollback in force, and reports why
rollback 1 → live* 1 one; reload → unchanged 1 one (ROLLED_BACK)
# an edit goes live after a rollback, and may then be changed back to what was rolled back from
rollback 1 → live* 1 one; edit four → live 4 four; edit three → live 3 three
# files that are restored to the live content end the rollback
rollback 2 → live* 2 two; edit two → unchanged 2 two; edit three → live 3 three
# a refused edit leaves the rollback in force
rollback 1 → live* 1 one; edit broken → rejected 1 one BAD; edit unfit → rejected 1 one BAD; edit three → unchanged 1 one (ROLLED_BACK)
# broken files can be rolled back from, and are not refused repeatedly
edit broken → rejected 3 three BAD; rollback 2 → live* 2 two; reload → unchanged 2 two (ROLLED_BACK); edit fixed → live 4 fixed
# going back to the content of the files is not a rollback
rollback 1 → live* 1 one; rollback 3 → live 3 three; reload → unchanged 3 three
# a rollback to the live generation changes nothing, and stays in force if the files differ from it
rollback 3 → unchanged 3 three; edit unfit → rejected 3 three BAD; rollback 3 → unchanged 3 three (ROLLED_BACK); restart → live* 3 three (ROLLED_BACK); edit four → live 4 four
# an old generation with new secrets is a new generation
secret rotated; rollback 1 → live* 4 one; rollback 4 → unchanged 4 one (ROLLED_BACK)
# boot-only settings keep their values in a rollback too
port 2; rollback 1 → live* 1 one gateway.port
# a rollback uses the kept bundles, even if the modules have changed
bundle b1; edit four → live 4 four; bundle b2; edit five → live 5 five ~review.ts; rollback 4 → live* 4 four ~review.ts; story open b1, open b2, release b1, open b1, release b2; reload → unchanged 4 four (ROLLED_BACK)
# after a restart the rollback stays in force until the files change
rollback 1 → live* 1 one; restart → live* 1 one (ROLLED_BACK); reload → unchanged 1 one (ROLLED_BACK); edit four → live 4 four
# files that changed while the gateway was stopped go live at the restart
rollback 1 → live* 1 one; restart four → live 4 four
# a reload that ends the rollback makes the files live, and refused files end nothing
rollback 1 → live* 1 one; end → live 3 three; rollback 1 → live* 1 one; text unfit; end → rejected 1 one BAD; edit three → unchanged 1 one (ROLLED_BACK)
# the same content has its earlier number after a restart
restart two → live 2 two; edit five → live 4 five

# a candidate whose compiler throws, or that the host cannot prepare, is refused, and the next one goes live
fault compile; edit four → rejected 3 three CANDIDATE_REFUSED; fault prepare; edit four → rejected 3 three BAD_CHANNEL; fault ; edit five → live 4 five
# a changed bundle makes another generation, and the old bundle is released after the swap
bundle b1; edit four → live 4 four; bundle b2; reload → live 5 four ~review.ts; story open b1, open b2, release b1
# an unchanged bundle makes no generation, and nothing is opened for it
bundle b1; edit four → live 4 four; reload → unchanged 4 four; story open b1
# a candidate whose transforms cannot be loaded, or whose tests fail, is refused, and its transforms are released
bundle b1; edit four → live 4 four; bundle b2; fault load; reload → rejected 4 four TRANSFORM_NOT_LOADED; fault test; reload → rejected 4 four TEST_FAILED; story open b1, open b2, release b2, open b2, release b2
# a warning about a test is reported and refuses nothing
bundle b1; edit four → live 4 four; fault warn; edit five → live 5 five (TEST_CALLS_OUT)
# failing tests are a warning if the operator does not require them, or if there is no earlier snapshot
fault test; edit four → rejected 3 three TEST_FAILED; tests optional; reload → live 4 four (TEST_FAILED); tests required; restart five → live 5 five (TEST_FAILED)
# a candidate that cannot be bundled is refused
bundle b1; edit four → live 4 four; fault bundle; reload → rejected 4 four IMPORT_NOT_FOUND
# a transform that breaks in another way is another change, even if nothing else changed
bundle b1; edit four → live 4 four; fault bundle; reload → rejected 4 four IMPORT_NOT_FOUND; rollback 1 → live* 1 one; reload → unchanged 1 one (ROLLED_BACK); message other; reload → rejected 1 one IMPORT_NOT_FOUND
# closing releases the live snapshot
bundle b1; edit four → live 4 four; close; story open b1, release b1
`

for (const [, title = '', steps = ''] of scripts.matchAll(/^# (.*)\n(.*)$/gm))
  test(title, () => runScript(steps))

test('a rollback is reported with its changes, and generations are listed with their states', async () => {
  const bench = await withThree(createBench())
  const { changes } = await bench.reloader.rollback(1)
  assert.deepEqual(changes.mappings, { added: ['one'], changed: [], removed: ['three'], reordered: false })
  assert.deepEqual(states(bench), ['1 live', '3 retired', '2 retired'])
  const lastEvent = bench.events.at(-1)
  assert.ok(lastEvent?.type === 'snapshot-swapped' && lastEvent.rolledBack)
})

test('a dry run of a rollback says what would change, and changes nothing', async () => {
  const bench = await withThree(createBench())
  const before = [...bench.events]
  const { result, seen } = await bench.reloader.dryRun(async ({ candidate }) => candidate.digest, 1)
  assert.deepEqual([result.ok, result.outcome, result.generation], [true, 'live', 3])
  assert.deepEqual(result.changes.mappings.added, ['one'])
  assert.equal(seen, 'one s')
  const gone = await bench.reloader.dryRun(async () => assert.fail('there is nothing to look at'), 9)
  assert.deepEqual([gone.result.ok, gone.result.diagnostics[0]?.code], [false, 'GENERATION_NOT_KEPT'])
  assert.deepEqual(bench.live(), ['three', 3])
  assert.deepEqual(bench.events, before)
  assert.deepEqual(states(bench), ['3 live', '2 retired', '1 retired'])
})

test('a rollback to a generation that is not kept is refused to its caller alone', async () => {
  const bench = await withThree(createBench())
  const count = bench.events.length
  const result = await bench.reloader.rollback(7)
  assert.deepEqual([result.ok, result.outcome, result.generation], [false, 'rejected', 3])
  assert.equal(result.diagnostics[0]?.code, 'GENERATION_NOT_KEPT')
  assert.match(String(result.diagnostics[0]?.hint), /3, 2, 1/)
  assert.equal(bench.events.length, count)
  assert.equal(states(bench).length, 3)
})

test('an old generation that cannot be built any more is refused, and the refusal names it', async () => {
  let fails = false
  const parts = {
    prepare() {
      if (fails) throw new Error('the plugin is gone')
      return { commit() {}, discard() {} }
    },
  }
  const bench = await withThree(createBench(undefined, parts))
  fails = true
  const result = await bench.reloader.rollback(1)
  assert.deepEqual([result.outcome, result.generation], ['rejected', 3])
  const lastEvent = bench.events.at(-1)
  assert.ok(lastEvent?.type === 'candidate-rejected' && lastEvent.rollbackTo === 1)
  fails = false
  assert.equal((await bench.reloader.reload()).outcome, 'unchanged')
})

test('after a restart a rollback that cannot stay in force is reported, and the files are live', async () => {
  const archive = createMemoryArchive()
  const before = await withThree(createBench(archive))
  await before.reloader.rollback(1)
  const after = createBench({ ...archive, read: async () => undefined })
  after.world.text = 'three'
  const started = await after.reloader.start()
  assert.deepEqual([started.generation, ...started.diagnostics.map(({ code }) => code)], [3, 'ROLLBACK_LOST'])
  assert.equal(archive.rollback(), undefined)
})

test('the last twenty of many generations are kept', async () => {
  const bench = createBench()
  await bench.reloader.start()
  for (let number = 2; number <= 25; number += 1) await bench.edit(`text ${number}`)
  for (const [index, { generation }] of bench.reloader.generations().entries())
    assert.equal(generation, 25 - index)
  assert.equal(bench.reloader.generations().length, 20)
  assert.equal((await bench.reloader.rollback(5)).outcome, 'rejected')
  assert.equal((await bench.reloader.rollback(6)).outcome, 'live')
  assert.equal((await bench.edit('one')).generation, 26, 'the number of what is not kept is not given again')
})

test('rollbacks and reloads wait for each other', async () => {
  const bench = await withThree(createBench())
  bench.world.text = 'four'
  const { reloader } = bench
  const results = await Promise.all(
    [1, undefined, 2, 3].map((to) => (to === undefined ? reloader.reload() : reloader.rollback(to))),
  )
  assert.equal(results.map(({ generation }) => generation).join(), '1,4,2,3')
  assert.deepEqual(bench.live(), ['three', 3])
})

test('a waiting rollback does not skip a change that comes meanwhile', async () => {
  const testing = Promise.withResolvers<void>()
  const tested = Promise.withResolvers<void>()
  let isHeldUp = false
  const bench = await withThree(
    createBench(undefined, {
      async test() {
        if (isHeldUp) {
          testing.resolve()
          await tested.promise
        }
        return []
      },
    }),
  )
  isHeldUp = true
  const edited = bench.edit('four')
  await testing.promise
  const back = bench.reloader.rollback(1)
  const fixed = bench.edit('five')
  isHeldUp = false
  tested.resolve()
  await Promise.all([edited, back])
  assert.equal((await fixed).outcome, 'live')
  assert.equal(bench.live()[0], 'five')
})

test('files that are refused repeatedly are one refusal in the archive', async () => {
  const archive = createMemoryArchive()
  for (const [at, digest] of ['bad', 'bad', 'worse', 'bad'].entries())
    archive.note({ state: 'rejected', digest, at, tookMs: 1, changes: noChanges, diagnostics: [] })
  assert.equal(
    archive
      .list()
      .map(({ digest, at }) => `${at} ${digest}`)
      .join(),
    '3 bad,2 worse,1 bad',
  )
})
