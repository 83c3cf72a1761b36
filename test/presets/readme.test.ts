/** Tests that the README of the presets describes each mapping as the mapping does. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { knownPresets } from '../../runtime/cli/authoring/presets.ts'
import { presetsFolder } from '../../runtime/presets-folder.ts'
import { expectedExamples, expectedMappings } from './expected.ts'
import { soundPresets } from './presets.ts'

const mark = ' °'

test('the table lists each mapping with action and description, and marks those that no recorded body reaches', async () => {
  const text = await readFile(join(presetsFolder(), 'README.md'), 'utf8')
  const rows = text.matchAll(/^\|[^|]*\| `([\w-]+)`( °)? \| (\w+) \| (.+) \|$/gm)
  const written = [...rows].map(([, id, marked, action, description]) => ({
    id,
    marked,
    action,
    description,
  }))
  const { configuration } = await soundPresets(knownPresets())
  const reached = new Set(
    [...Object.values(expectedMappings).flatMap(Object.values), ...Object.values(expectedExamples)].flatMap(
      (ids: string) => ids.split(', '),
    ),
  )
  const meant = configuration.mappings.map(({ id, value: { action, description } }) => ({
    id,
    marked: reached.has(id) ? undefined : mark,
    action,
    description,
  }))
  assert.deepEqual(new Set(written), new Set(meant))
  assert.equal(written.length, meant.length)
})
