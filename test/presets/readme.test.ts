/** Tests that the README of the presets lists each mapping. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { knownPresets } from '../../runtime/cli/authoring/presets.ts'
import { presetsFolder } from '../../runtime/presets-folder.ts'
import { soundPresets } from './presets.ts'
import { expected } from './samples.ts'

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
  const rows = Object.values(expected.recorded).flatMap((each) => Object.values(each))
  const reached = new Set([...rows.flatMap((ids) => ids.split(', ')), ...Object.keys(expected.examples)])
  const meant = configuration.mappings.map(
    ({ id, value: { action } }) => `${action} \`${id}\`${reached.has(id) ? '' : mark}`,
  )
  assert.deepEqual(written.filter((each) => !each.endsWith(' ')).toSorted(), meant.toSorted())
})
