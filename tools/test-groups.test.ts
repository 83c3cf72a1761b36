import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupTests } from './test-groups.ts'

test('files of one package share processes of about the same size, and what takes long begins first, in processes of fewer files', () => {
  const cells = Array.from({ length: 24 }, (_, index) => `engine/compile/cell-${index}.test.ts`)
  const groups = groupTests([
    ...cells,
    'engine/compile/match/words.test.ts',
    'runtime/http/target.test.ts',
    'test/process/stop.test.ts',
    'test/process/streams.test.ts',
    'test/process/refusal.test.ts',
    'test/process/reload.test.ts',
    'test/console/size.test.ts',
    'test/console/looks.test.ts',
    'test/docs.test.ts',
    'tools/run.test.ts',
  ])
  assert.deepEqual(
    groups.map(({ room, files }) => [room, files.length]),
    [
      ['test/console', 1],
      ['test/console', 1],
      ['test/process', 2],
      ['test/process', 2],
      ['test', 1],
      ['runtime', 1],
      ['engine', 13],
      ['engine', 12],
      ['tools', 1],
    ],
  )
  assert.equal(new Set(groups.flatMap(({ files }) => files)).size, 34)
})
