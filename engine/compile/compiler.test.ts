import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import { watchEventLoop } from '../resolve/event-loop-fixture.ts'
import { processorMs } from '../resolve/model/processor-time.ts'
import type { TransformFunction, Transforms } from '../transform/port.ts'
import { type Compiled, createCompiler } from './compile-snapshot.ts'
import { actionOf, catalog, configurationOf, type Fixture, type Mapping, requestOf } from './fixture.ts'
import type { Snapshot } from './snapshot.ts'

const randomness = { mint: () => 'uuid', randomId: () => 'id' }

const mappingOf = (position: number): Mapping => ({
  id: `m${position}`,
  match: { path: 'test', body: { repository: { id: position } } },
  message: `Review {{title}} of repository ${position}`,
  sessionKey: 'hook:test:{{number}}',
})

const many = (count: number): Mapping[] => Array.from({ length: count }, (_, position) => mappingOf(position))

const entryOf = (mapping: Mapping): MappingEntry => configurationOf([mapping]).mappings[0] as MappingEntry

/** Returns the same entry on another line. */
const movedTo = (line: number, entry: MappingEntry): MappingEntry => ({
  ...entry,
  label: `mappings/test.yaml:${line}:1`,
  locate: (path, offset) => ({ ...entry.locate(path, offset), line }),
})

function snapshotOf(compiled: Compiled): Snapshot {
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'))
  return compiled.snapshot
}

const codesOf = (compiled: Compiled) => !compiled.ok && compiled.diagnostics.map(({ code }) => code)

/** Compiles one configuration after another with one compiler, and returns the programs of each. */
function createProgramsOf() {
  const { compile } = createCompiler({ randomness })
  return async (configuration: Configuration) => {
    const compiled = await compile(configuration, catalog)
    assert.ok(compiled.ok)
    return compiled.programs
  }
}

test('compiling ten thousand mappings yields to the event loop regularly', async () => {
  const configuration = configurationOf(many(10_000))
  const { compile } = createCompiler({ randomness })
  const begun = processorMs()
  const { result, iterations, longest } = await watchEventLoop(() => compile(configuration, catalog))
  const took = processorMs() - begun
  assert.equal(snapshotOf(result).mappings.length, 10_000)
  assert.ok(iterations >= 10, `${iterations} iterations`)
  assert.ok(longest < took / 3, `${longest} ms of ${took} ms without a turn`)
})

test('an edit of one mapping among a thousand compiles only that one', async () => {
  const programsOf = createProgramsOf()
  const before = configurationOf(many(1_000))
  const old = await programsOf(before)
  const edited = before.mappings.with(500, entryOf({ ...mappingOf(500), message: 'Something else' }))
  const programs = await programsOf({ ...before, mappings: edited })
  const compiled = [...programs.keys()].filter((position) => programs[position] !== old[position])
  assert.deepEqual(compiled, [500])
})

test('a removed mapping leaves the cache', async () => {
  const programsOf = createProgramsOf()
  const before = configurationOf(many(2))
  const [removed, kept] = await programsOf(before)
  await programsOf({ ...before, mappings: before.mappings.slice(1) })
  const again = await programsOf(before)
  assert.equal(again[1], kept)
  assert.notEqual(again[0], removed)
})

test('a mapping that moved or was renamed is reported by its new id and place, and is not compiled again', async () => {
  const programsOf = createProgramsOf()
  const before = configurationOf(many(2))
  const old = await programsOf(before)
  const [first, second] = before.mappings as [MappingEntry, MappingEntry]
  const renamed = { ...movedTo(7, second), id: 'renamed' }
  const programs = await programsOf({ ...before, mappings: [renamed, first] })
  assert.deepEqual([programs[0]?.id, programs[0]?.place], ['renamed', 'mappings/test.yaml:7:1'])
  assert.equal(programs[0]?.matcher, old[1]?.matcher)
  assert.equal(programs[0]?.fields, old[1]?.fields)
  assert.equal(programs[1], old[0])
})

test('findings about a cached mapping are reported again, at its current place', async () => {
  const { compile } = createCompiler({ randomness })
  const odd = { message: 'See {% title %}', allowUnsafeExternalContent: true }
  const before = configurationOf([{ id: 'odd', ...odd }])
  const entry = before.mappings[0] as MappingEntry
  const refused = entryOf({ id: 'refused', message: 'Hi {{name' })
  const found = async (mapping: MappingEntry) => {
    const compiled = await compile({ ...before, mappings: [mapping] }, catalog)
    const found = compiled.ok ? compiled.warnings : compiled.diagnostics
    return found.map(({ code, place }) => `${place?.line}:${place?.column} ${code}`)
  }
  for (const line of [1, 40]) {
    const expected = [`${line}:18 PARTIAL_EXPRESSION`, `${line}:33 UNSAFE_CONTENT`]
    assert.deepEqual(await found(movedTo(line, entry)), expected)
    assert.deepEqual(await found(movedTo(line, refused)), [`${line}:17 TEMPLATE_SYNTAX`])
  }
})

const otherModel = { defaults: { models: { allowed: ['other/model'], aliases: {} } } }
const otherPrefix = { hooks: { allowedSessionKeyPrefixes: ['other:'] } }

/** Fields of a mapping, settings that refuse it, code. */
const settings: readonly (readonly [Mapping, Fixture, string])[] = [
  [{ channel: 'slack' }, { channels: {} }, 'CHANNEL_NOT_CONFIGURED'],
  [{ deliverTo: [{ channel: 'slack' }] }, { channels: {} }, 'CHANNEL_NOT_CONFIGURED'],
  [{ model: 'openai/gpt-5' }, otherModel, 'MODEL_NOT_ALLOWED'],
  [{ sessionKey: 'hook:a' }, otherPrefix, 'SESSION_KEY_NOT_ALLOWED'],
  [{ sessionKey: 'hook:{{a}}' }, otherPrefix, 'SESSION_KEY_NOT_ALLOWED'],
  [{ runner: 'command' }, {}, 'UNKNOWN_RUNNER'],
]
for (const [mapping, fixture, code] of settings)
  test(`${JSON.stringify(mapping)} of a cached mapping is checked against new settings and runners`, async () => {
    const { compile } = createCompiler({ randomness })
    const before = configurationOf([{ match: { when: 'a = 1' }, message: 'x', ...mapping }])
    const now = { ...configurationOf([], fixture), mappings: before.mappings }
    for (let time = 0; time < 2; time++) {
      snapshotOf(await compile(before, catalog))
      assert.deepEqual(codesOf(await compile(now, { ...catalog, runners: ['echo'] })), [code])
    }
  })

test('a cached mapping calls the transform of the current candidate', async () => {
  const answering = (message: string): Transforms => {
    const call: TransformFunction = async () => ({ kind: 'one', action: { message: { value: message } } })
    return { bind: () => call }
  }
  const { compile } = createCompiler({ randomness })
  const configuration = configurationOf([{ message: 'x', transform: { module: 'a.ts' } }])
  const one = snapshotOf(await compile(configuration, catalog, answering('one')))
  const two = snapshotOf(await compile(configuration, catalog, answering('two')))
  for (const [snapshot, message] of [
    [one, 'one'],
    [two, 'two'],
  ] as const)
    assert.partialDeepStrictEqual(actionOf(await snapshot.resolve(requestOf({}))), { message })
  assert.deepEqual(codesOf(await compile(configuration, catalog)), ['TRANSFORM_NOT_LOADED'])
})

test('mappings with equal parts share the compiled parts', async () => {
  const schema = { type: 'object' }
  const programsOf = createProgramsOf()
  const alike: Mapping = { message: 'Hi {{name}}', to: 'x', forEach: 'items', schema }
  const programs = await programsOf(configurationOf([alike, { ...alike, id: 'b', message: 'Hi {{name}}' }]))
  const [one, other] = programs
  assert.deepEqual(one?.fields, other?.fields)
  assert.equal(one?.forEach, other?.forEach)
  assert.equal(one?.checkPayload, other?.checkPayload)
})

/** Mappings that may take long on a payload (true), and those of linear time (false). */
const bounds: readonly (readonly [boolean, Mapping])[] = [
  [true, { message: '{% a %}' }],
  [true, { message: 'x', match: { when: 'a = 1' } }],
  [true, { message: 'x', dedupe: { enabled: true, key: 'a' } }],
  [true, { message: '{{#each a}}{{#if b}}{{#each b}}{{c}}{{/each}}{{/if}}{{/each}}' }],
  [true, { message: 'x', schema: { type: 'object' } }],
  [false, { message: '{{#each a}}{{b}}{{/each}}{{#each c}}{{#with d}}{{e}}{{/with}}{{/each}}' }],
  [false, { message: 'x', dedupe: { enabled: true, key: '{{a}}' } }],
]
for (const [isUnbounded, mapping] of bounds)
  test(`${JSON.stringify(mapping)} is decided ${isUnbounded ? 'in a thread' : 'on the main loop'}`, async () => {
    const compiled = await createCompiler({ randomness }).compile(configurationOf([mapping]), catalog)
    assert.equal(compiled.ok && compiled.programs[0]?.evaluates, isUnbounded)
  })
