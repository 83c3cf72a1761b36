/** Compares a snapshot that was made edit by edit with one that was compiled from scratch, for random edits and requests. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { HookRequest } from '../resolve/model/decision.ts'
import { type Compiled, compileSnapshot, createCompiler } from './compile-snapshot.ts'
import { catalog, configurationOf, type Mapping, requestOf } from './fixture.ts'

const randomness = { mint: () => 'uuid', randomId: () => 'id' }

const few = fc.integer({ min: 0, max: 3 })
// Some paths have more mappings than are tried without an index.
const paths = ['a', 'a', 'a', 'b', 'a/x', ':name', 'a/:name', ':first/:second'] as const

const mapping: fc.Arbitrary<Mapping> = fc
  .record({
    path: fc.option(fc.constantFrom(...paths), { nil: undefined, freq: 5 }),
    body: fc.option(fc.record({ kind: few, of: fc.record({ kind: fc.array(few, { minLength: 1 }) }) }), {
      nil: undefined,
    }),
    tenant: fc.option(fc.constantFrom('one', 'two', 'three'), { nil: undefined }),
    when: fc.option(fc.constantFrom('size > 1', '$not(quiet)', 'size.none.at'), { nil: undefined, freq: 4 }),
    message: fc.constantFrom('Hi {{kind}}', 'Hi {{params.name}} {{of.kind}}', '{% "Hi " & kind %}', 'Hi'),
    channel: fc.constantFrom('slack', 'terminal', 'last', undefined),
    continues: fc.boolean(),
    forEach: fc.option(fc.constant('list'), { nil: undefined, freq: 5 }),
  })
  .map(({ path, body, tenant, when, message, channel, continues, forEach }) =>
    withoutAbsent({
      match: withoutAbsent({ path, body, when, headers: tenant && { 'x-tenant': tenant } }),
      message,
      channel,
      continue: continues,
      forEach,
    }),
  )

function withoutAbsent<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
}

const request: fc.Arbitrary<HookRequest> = fc
  .record({
    endpoint: fc.constantFrom('a', 'b', 'c', 'a/x', 'a/y', 'b/y'),
    tenant: fc.constantFrom('one', 'two', 'four'),
    payload: fc.record(
      { kind: few, of: fc.record({ kind: few }), size: few, quiet: fc.boolean(), list: fc.array(few) },
      { requiredKeys: [] },
    ),
  })
  .map(({ endpoint, tenant, payload }) => requestOf(payload, { endpoint, headers: { 'x-tenant': tenant } }))

type Channels = Configuration['settings']['channels']

/** Positions are taken modulo the number of mappings. */
type Edit =
  | { readonly kind: 'add'; readonly at: number; readonly mapping: Mapping }
  | { readonly kind: 'change'; readonly at: number; readonly mapping: Mapping }
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number }
  | { readonly kind: 'settings'; readonly channels: Channels }

const at = fc.nat(1_000)
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), at, mapping }),
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), at, mapping }) },
  fc.record({ kind: fc.constant('remove' as const), at }),
  fc.record({ kind: fc.constant('move' as const), at, to: at }),
  fc.record({
    kind: fc.constant('settings' as const),
    channels: fc.constantFrom<Channels>({ terminal: {}, slack: {} }, { terminal: {} }),
  }),
)

let made = 0
function entryOf(mapping: Mapping): MappingEntry {
  made += 1
  return configurationOf([{ id: `m${made}`, ...mapping }]).mappings[0] as MappingEntry
}

function applyEdit(configuration: Configuration, edit: Edit): Configuration {
  if (edit.kind === 'settings')
    return { ...configuration, settings: { ...configuration.settings, channels: edit.channels } }
  const mappings = [...configuration.mappings]
  const place = edit.at % (mappings.length + (edit.kind === 'add' ? 1 : 0)) || 0
  if (edit.kind === 'add') mappings.splice(place, 0, entryOf(edit.mapping))
  else if (edit.kind === 'change') mappings.splice(place, 1, entryOf(edit.mapping))
  else if (edit.kind === 'remove') mappings.splice(place, 1)
  else mappings.splice(edit.to % mappings.length || 0, 0, ...mappings.splice(place, 1))
  return { ...configuration, mappings: mappings.map(standingAt) }
}

/** Returns the same entry on its current line. */
function standingAt(entry: MappingEntry, index: number): MappingEntry {
  const line = index + 1
  return {
    ...entry,
    label: `mappings/test.yaml:${line}:1`,
    locate: (path, offset) => ({ ...entry.locate(path, offset), line }),
  }
}

async function assertAlike(one: Compiled, other: Compiled, requests: readonly HookRequest[]): Promise<void> {
  if (!one.ok || !other.ok) return assert.deepEqual(one, other)
  assert.deepEqual(one.warnings, other.warnings)
  assert.deepEqual(one.snapshot.mappings, other.snapshot.mappings)
  for (const request of requests) {
    assert.equal(one.snapshot.covers(request.endpoint), other.snapshot.covers(request.endpoint))
    assert.deepEqual(await one.snapshot.resolve(request), await other.snapshot.resolve(request))
  }
  for (const request of requests.slice(0, 2))
    assert.deepEqual(await one.snapshot.explain(request), await other.snapshot.explain(request))
}

test('a snapshot that was made edit by edit decides like one that was compiled from scratch', async () => {
  let refused = 0
  let served = 0
  const property = fc.asyncProperty(
    fc.array(mapping, { minLength: 10, maxLength: 30 }),
    fc.array(edit, { minLength: 1, maxLength: 6 }),
    fc.array(request, { minLength: 6, maxLength: 10 }),
    async (mappings, edits, requests) => {
      const { compile } = createCompiler({ randomness })
      let configuration: Configuration = {
        ...configurationOf([]),
        mappings: mappings.map(entryOf).map(standingAt),
      }
      await compile(configuration, catalog)
      for (const each of edits) {
        configuration = applyEdit(configuration, each)
        const compiled = await compile(configuration, catalog)
        await assertAlike(compiled, compileSnapshot(configuration, catalog, randomness), requests)
        if (compiled.ok) served += 1
        else refused += 1
      }
    },
  )
  await fc.assert(property, { seed: 8, numRuns: 60 })
  assert.ok(served > 30 && refused > 10, `${served} served, ${refused} refused`)
})
