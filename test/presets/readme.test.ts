/** Tests that the README of the presets lists each mapping. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { knownPresets } from '../../runtime/cli/authoring/presets.ts'
import { presetsFolder } from '../../runtime/presets-folder.ts'
import { expectedExamples, expectedMappings } from './expected.ts'
import { soundPresets } from './presets.ts'

const mark = ' °'

test('the table lists each mapping by its action, and marks those that no recorded body reaches', async () => {
  const text = await readFile(join(presetsFolder(), 'README.md'), 'utf8')
  const written = [...text.matchAll(/^\| \[\w+\]\(\w+\.yaml\) \| (.*) \| (.*) \|$/gm)].flatMap(
    ([, agent = '', wake = '']) =>
      Object.entries({ agent, wake }).flatMap(([action, cell]) =>
        cell.split(', ').map((each) => `${action} ${each}`),
      ),
  )
  const { configuration } = await soundPresets(knownPresets())
  const reached = new Set(
    [...Object.values(expectedMappings).flatMap(Object.values), ...Object.values(expectedExamples)].flatMap(
      (ids: string) => ids.split(', '),
    ),
  )
  const meant = configuration.mappings.map(
    ({ id, value: { action } }) => `${action} \`${id}\`${reached.has(id) ? '' : mark}`,
  )
  assert.deepEqual(written.filter((each) => !each.endsWith(' ')).toSorted(), meant.toSorted())
})
