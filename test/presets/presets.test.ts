/** Tests that every built-in preset loads without warnings and passes its own tests. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lintConfiguration } from '@reveille/engine'
import { formatDiagnostic } from '@reveille/engine/text'
import { knownPresets } from '../../runtime/cli/authoring/presets.ts'
import { compileCopies, compilePresets, runPresetTests, soundPresets } from './presets.ts'

const names = knownPresets()
const all = soundPresets(names)
// Each test reports the missing recordings itself.
all.catch(() => undefined)

test('all presets load together without an error or a warning', async () => {
  const { snapshot } = await all
  for (const name of names) assert.ok(snapshot.covers(name), `no mapping for /hooks/${name}`)
})

test('each preset has two to eight mappings with its own name in their ids, each with a description', async () => {
  const { configuration } = await all
  for (const name of names) {
    const mappings = configuration.mappings.filter(({ origin }) => origin.name === name)
    assert.ok(mappings.length >= 2 || few.has(name), `${name} has ${mappings.length} mappings`)
    assert.ok(mappings.length <= 8, `${name} has ${mappings.length} mappings`)
    for (const { id, value } of mappings) {
      assert.ok(id.startsWith(`${name}-`), `${id} is a mapping of ${name}`)
      assert.ok(value.description, `${id} has no description`)
      assert.notEqual(value.allowUnsafeExternalContent, true, `${id} goes without the boundary`)
    }
  }
})

/** These vendors send a single event. */
const few: ReadonlySet<string> = new Set(['typeform'])

test('lint finds nothing in presets, neither in use nor copied beside a configuration', async () => {
  for (const compiled of [await all, await compileCopies()]) {
    assert.ok(compiled.ok)
    const warnings = [...compiled.warnings, ...(await lintConfiguration(compiled))]
    assert.deepEqual(
      warnings.map((each) => formatDiagnostic(each, '.')),
      [],
    )
  }
})

for (const name of names) {
  test(`the tests of the preset ${name} pass`, async () => {
    const results = await runPresetTests(await soundPresets([name]))
    const failed = results.filter(({ passed }) => !passed)
    const reasons = failed.map(({ test, mismatches, unmatched }) => [test.value.name, mismatches, unmatched])
    assert.deepEqual(reasons, [])
  })
}

test('each mapping of a preset has a test that reaches it, and each preset has two tests without an action', async () => {
  const { configuration } = await all
  const reached = new Set(
    configuration.tests.flatMap(({ value: { expect } }) => [
      expect.mapping,
      ...(expect.actions ?? []).map(({ mapping }) => mapping),
    ]),
  )
  for (const { id } of configuration.mappings) assert.ok(reached.has(id), `no test reaches ${id}`)
  for (const name of names) {
    const negatives = configuration.tests.filter(
      ({ origin, value }) => origin.name === name && value.expect.outcome === 'ignored',
    )
    // The catch-all ignores no request.
    if (name !== 'generic') assert.ok(negatives.length >= 2, `${name} has ${negatives.length}`)
  }
})

test('the channel that is given to a preset is used by all its runs, and its tests still pass', async () => {
  const compiled = await soundPresets(names.map((name) => ({ name, channel: 'slack', to: 'C123' })))
  const agents = compiled.configuration.mappings.filter(({ value }) => value.action === 'agent')
  assert.ok(agents.length > 30)
  for (const { id, value } of agents) assert.deepEqual([id, value.channel, value.to], [id, 'slack', 'C123'])
  const failed = (await runPresetTests(compiled)).filter(({ passed }) => !passed)
  assert.deepEqual(
    failed.map(({ test }) => test.value.name),
    [],
  )
})

test('an unknown preset is refused with the nearest name', async () => {
  const compiled = await compilePresets(['githib'])
  assert.ok(!compiled.ok)
  const [diagnostic] = compiled.diagnostics
  assert.match(diagnostic?.hint ?? '', /Did you mean `github`\?/)
})
