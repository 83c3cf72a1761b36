import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappingEntry, Origin } from '../config/configuration.ts'
import { createPlaceFinder } from './coverage.ts'
import { configurationOf } from './fixture.ts'

function entryAt(kind: Origin['kind'], name: string, line: number): MappingEntry {
  const [entry] = configurationOf([{ message: 'x' }]).mappings as [MappingEntry]
  return { ...entry, origin: { kind, name }, locate: () => ({ ...entry.locate([]), line }) }
}

const serving = [
  entryAt('configuration', 'reveille.yaml', 10),
  entryAt('file', 'a.yaml', 2),
  entryAt('file', 'a.yaml', 4),
  entryAt('file', 'a.yaml', 6),
  entryAt('file', 'c.yaml', 1),
  entryAt('preset', 'stripe', 1),
  entryAt('preset', 'github', 3),
  entryAt('preset', 'alertmanager', 3),
]

/** Origin, line, the number of mappings before it. */
const places: readonly (readonly [Origin['kind'], string, number, number])[] = [
  ['configuration', 'reveille.yaml', 5, 0],
  ['configuration', 'reveille.yaml', 11, 1],
  ['file', 'a.yaml', 1, 1],
  ['file', 'a.yaml', 3, 2],
  ['file', 'a.yaml', 5, 3],
  ['file', 'a.yaml', 7, 4],
  ['file', 'b.yaml', 1, 4],
  ['file', 'd.yaml', 1, 5],
  ['preset', 'github', 1, 6],
  ['preset', 'github', 9, 7],
  ['preset', 'unused', 1, 8],
]
for (const [kind, name, line, before] of places) {
  test(`a disabled mapping in line ${line} of ${kind} ${name} has ${before} before it`, () => {
    assert.equal(createPlaceFinder(serving)(entryAt(kind, name, line)), before)
  })
}

test('if no mapping of the configuration is enabled, its disabled mappings come first', () => {
  assert.equal(createPlaceFinder(serving.slice(1))(entryAt('configuration', 'reveille.yaml', 10)), 0)
  assert.equal(createPlaceFinder([])(entryAt('file', 'a.yaml', 1)), 0)
})
