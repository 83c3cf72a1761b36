import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Configuration } from '../config/configuration.ts'
import { codesOf, lintOf, mappingOf } from './fixture.ts'

const opened = { path: 'test', body: { action: 'opened' } }
const any = { path: 'test' }

test('a mapping behind one that matches whenever it does is never reached', async () => {
  const found = await lintOf([mappingOf('all', { match: any }), mappingOf('opened', { match: opened })])
  assert.deepEqual(codesOf(found), ['SHADOWED_MAPPING'])
  const { severity, place, message, hint } = found[0] ?? assert.fail()
  assert.deepEqual([severity, place?.line], ['warning', 2])
  assert.match(message, /"opened" is never reached: "all" \(mappings\/test\.yaml:1:1\)/)
  assert.match(hint ?? '', /continue: true/)
  const twice = [mappingOf('one', { match: opened }), mappingOf('two', { match: opened })]
  assert.deepEqual(codesOf(await lintOf(twice)), ['DUPLICATE_MATCH'])
})

test('a catch-all hides what comes after it, and nothing that comes before', async () => {
  const [all, narrow] = [mappingOf('all'), mappingOf('narrow', { match: opened })]
  assert.deepEqual(codesOf(await lintOf([all, narrow])), ['SHADOWED_MAPPING'])
  assert.deepEqual(codesOf(await lintOf([narrow, all])), [])
})

test('`continue: true` lets the later ones run, and an expression hides only where it is the same', async () => {
  const reached = [
    [mappingOf('all', { match: any, continue: true }), mappingOf('opened', { match: opened })],
    [mappingOf('some', { match: { ...any, when: 'draft' } }), mappingOf('opened', { match: opened })],
    [mappingOf('other', { match: { path: 'other' } }), mappingOf('opened', { match: opened })],
  ]
  for (const mappings of reached) assert.deepEqual(codesOf(await lintOf(mappings)), [])
  const when = 'draft = false'
  const hidden = [any, opened].map((match, index) => mappingOf(`m${index}`, { match: { ...match, when } }))
  assert.deepEqual(codesOf(await lintOf(hidden)), ['SHADOWED_MAPPING'])
})

test('a hidden mapping of a preset is reported at the mapping that hides it', async () => {
  const alter = (configuration: Configuration): Configuration => ({
    ...configuration,
    mappings: configuration.mappings.map((entry, index) =>
      index === 0 ? entry : { ...entry, origin: { kind: 'preset', name: 'github' } },
    ),
  })
  const mappings = [mappingOf('all', { match: any }), mappingOf('opened', { match: opened })]
  const [found] = await lintOf(mappings, { alter })
  assert.equal(found?.place?.line, 1)
  assert.match(found?.message ?? '', /"opened" of the preset github is never reached/)
})
