import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupTests } from './test-groups.ts'

test('files of one folder share processes of about the same size, and what waits for others has one of its own and begins first', () => {
  const cells = Array.from({ length: 12 }, (_, index) => `engine/compile/cell-${index}.test.ts`)
  const groups = groupTests([
    ...cells,
    'engine/compile/match/words.test.ts',
    'runtime/http/target.test.ts',
    'test/console/size.test.ts',
    'test/console/looks.test.ts',
    'test/docs.test.ts',
    'tools/run.test.ts',
  ])
  assert.deepEqual(
    groups.map(({ room, files }) => [room, files.length]),
    [
      ['test/console/size.test.ts', 1],
      ['test/console/looks.test.ts', 1],
      ['test', 1],
      ['runtime/http', 1],
      ['engine/compile', 7],
      ['engine/compile', 6],
      ['tools', 1],
    ],
  )
  assert.equal(new Set(groups.flatMap(({ files }) => files)).size, 18)
})
