import assert from 'node:assert/strict'
import test from 'node:test'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'

test('files that mappings and transforms can be made of matter, and traces of editors, logs and hidden ones do not', () => {
  const relevant =
    'a.yaml b.YML c.json d.ts e.mts f.cts g.js h.mjs i.cjs j.tsx prompt.txt prompt.md tsconfig.json'
  const others =
    '4913 .a.yaml.swp a.yaml~ #a.yaml# .#a.yaml .a.yaml.Ab1xQ a.yaml.tmp server.log data.db-wal ..data'
  for (const name of relevant.split(' ')) assert.ok(isRelevantFile(name), name)
  for (const name of others.split(' ')) assert.ok(!isRelevantFile(name), name)
  for (const name of ['deep', 'v1.2', '2026']) assert.ok(isRelevantFolder(name), name)
  for (const name of ['.git', '..2026_01', 'old~', 'node_modules']) assert.ok(!isRelevantFolder(name), name)
})
