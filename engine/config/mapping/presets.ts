/** Applies the configuration's adjustments to the mappings, policies and tests of presets in use. */

import type { Finding } from '../diagnostic/diagnostic.ts'
import { findingOf, noEffect } from '../diagnostic/key-fault.ts'
import type { CheckedFile } from '../file/checked-file.ts'
import type { Findings } from '../file/findings.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import type { Reading } from '../file/reading.ts'
import { type Path, writePath } from '../path.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import type { MappingValue } from '../schema/mapping-schema.ts'
import { type AdjustableField, adjustableFields, type PresetUse } from '../schema/preset-schema.ts'
import type { TestValue } from '../schema/test-schema.ts'
import type { Item, WrittenPlace } from './entries.ts'
import { itemsIn, type Preset } from './items.ts'
import { checkMatchPath, checkTargets } from './mapping-rules.ts'
import { type PresetFile, readPresets } from './preset-file.ts'

/** Returns the presets in their listed order. Without `folder` there are none. */
export async function loadPresets(
  main: CheckedFile<ConfigurationValue> | undefined,
  folder: string | undefined,
  reading: Reading,
  findings: Findings,
): Promise<Preset[]> {
  if (!main) return []
  const files = await readPresets(main, folder, reading, findings)
  return files.map((preset) => adjust(preset, main, findings))
}

/** The adjustments for all mappings of one preset. */
type Difference = PresetUse & Pick<MappingValue, 'allowUnsafeExternalContent'>

/** Values that apply to all mappings of one preset. */
interface Adjustment {
  readonly use: Difference
  readonly source: ParsedFile
  readonly placeOf: (name: keyof Difference) => Path
  readonly rename: Rename
}

/** Maps the name of a preset's endpoint to the name under which it is served. */
type Rename = (endpoint: string) => string

function adjust(
  { use: listed, at, file }: PresetFile,
  { source, value }: CheckedFile<ConfigurationValue>,
  findings: Findings,
): Preset {
  const ofMailbox = listed.name === 'gmail' ? saidOfMailbox(value, source, findings) : {}
  const use: Difference = { ...ofMailbox, ...listed }
  const origin = { kind: 'preset', name: use.name } as const
  const mappings = [...itemsIn<MappingValue>(file.source, origin, file.value.mappings, ['mappings'])]
  const tests = [...itemsIn<TestValue>(file.source, origin, file.value.tests, ['tests'])]
  const policies = { source: file.source, path: ['endpoints'], policies: file.value.endpoints }
  const sound = mappings.filter(({ path }) => findings.isSound(file.source, path))
  const soundTests = tests.filter(({ path }) => findings.isSound(file.source, path))
  for (const finding of checkUse(listed, at, sound)) findings.report(source, finding)
  for (const finding of unusedFields(listed, at, sound)) findings.report(source, finding)
  // An error in an adjustment is reported at the adjustment, and must not be reported in the preset again.
  const isAsShipped = Object.keys(use).length === 1 || !findings.isSound(source, at)
  if (isAsShipped) return { name: use.name, mappings: sound, tests: soundTests, policies }
  const rename = renaming(sound, use.path)
  const placeOf = (name: keyof Difference) => [...(Object.hasOwn(listed, name) ? at : mailbox), name]
  return {
    name: use.name,
    mappings: sound.map((item) => adjustMapping(item, { use, source, placeOf, rename })),
    tests: soundTests.flatMap((item) => adjustTest(item, use, rename)),
    policies: { ...policies, rename },
  }
}

const mailbox: Path = ['hooks', 'gmail']

/** Returns how `hooks.gmail` adjusts the runs for its mailbox. `hooks.presets` takes precedence. */
function saidOfMailbox(
  { hooks }: ConfigurationValue,
  source: ParsedFile,
  findings: Findings,
): Omit<Difference, 'name'> {
  if (!findings.isSound(source, mailbox)) return {}
  const { model, thinking, allowUnsafeExternalContent } = hooks?.gmail ?? {}
  return {
    ...(model !== undefined && { model }),
    ...(thinking !== undefined && { thinking }),
    ...(allowUnsafeExternalContent === true && { allowUnsafeExternalContent }),
  }
}

function* checkUse(use: PresetUse, at: Path, items: readonly Item[]): Iterable<Finding> {
  yield* checkTargets(use, at)
  if (use.path === undefined) return
  const path = [...at, 'path']
  yield* checkMatchPath(use.path, path)
  if (ownEndpoint(items) !== undefined) return
  const message = `\`${writePath(path)}\` cannot be set: the preset serves several endpoints`
  yield { path, code: 'INVALID_PATH', message, hint: 'Leave it out.' }
}

function* unusedFields(use: PresetUse, at: Path, items: readonly Item[]): Iterable<Finding> {
  const useful = new Set<AdjustableField>(items.flatMap(({ value }) => adjustableFields[value.action]))
  for (const name of Object.values(adjustableFields).flat()) {
    if (use[name] === undefined || useful.has(name)) continue
    yield findingOf(noEffect([name], 'no mapping of the preset has such a field'), at)
  }
}

/** Returns the endpoint that all mappings share, or lie below; `` if they apply to every endpoint. */
function ownEndpoint(items: readonly Item[]): string | undefined {
  const paths = items.map(({ value }) => value.match?.path ?? '/')
  const [own = '/'] = paths.toSorted((one, other) => one.length - other.length)
  if (own === '/') return paths.every((path) => path === '/') ? '/' : undefined
  return paths.every((path) => path === own || path.startsWith(`${own}/`)) ? own : undefined
}

function renaming(items: readonly Item[], path: string | undefined): Rename {
  const own = ownEndpoint(items)
  return (endpoint) => {
    if (path === undefined || own === undefined) return endpoint
    if (endpoint === own || own === '/') return path
    return endpoint.startsWith(`${own}/`) ? path + endpoint.slice(own.length) : endpoint
  }
}

function adjustMapping(item: Item, { use, source, placeOf, rename }: Adjustment): Item {
  const { value } = item
  const overridden = new Map<string, WrittenPlace>()
  const changed: Record<string, unknown> = { ...value }
  for (const name of droppedFields(value.action, use)) delete changed[name]
  for (const name of adjustableFields[value.action]) {
    if (use[name] === undefined) continue
    changed[name] = use[name]
    overridden.set(name, { source, path: placeOf(name) })
  }
  if (use.allowUnsafeExternalContent && value.action === 'agent') {
    changed['allowUnsafeExternalContent'] = true
    overridden.set('allowUnsafeExternalContent', { source, path: placeOf('allowUnsafeExternalContent') })
  }
  if (use.path !== undefined) {
    changed['match'] = { ...value.match, path: rename(value.match?.path ?? '/') }
    overridden.set('match.path', { source, path: placeOf('path') })
  }
  return { ...item, value: changed as MappingValue, overridden }
}

/** Returns the fields that contradict the adjustment: an address belongs to its channel. */
function droppedFields(action: MappingValue['action'], use: PresetUse): readonly (keyof MappingValue)[] {
  if (action === 'wake') return use.mode === undefined ? [] : ['wakeMode']
  return [
    ...(use.wakeMode === undefined ? [] : (['mode'] as const)),
    ...(use.deliverTo === undefined && use.channel === undefined
      ? []
      : (['channel', 'to', 'deliverTo'] as const)),
    ...(use.to === undefined ? [] : (['deliverTo'] as const)),
  ]
}

/** Removes expectations about adjusted fields. Returns undefined if no expectation is left. */
function adjustTest(item: Item<TestValue>, use: PresetUse, rename: Rename): Item<TestValue>[] {
  const { request, expect, ...rest } = item.value
  const fields = new Set<string>(
    (['wake', 'agent'] as const).flatMap((action) => [
      ...adjustableFields[action].filter((name) => use[name] !== undefined),
      ...(isAdjusted(action, use) ? droppedFields(action, use) : []),
    ]),
  )
  const without = <Expected extends object>(expected: Expected): Expected =>
    Object.fromEntries(Object.entries(expected).filter(([name]) => !fields.has(name))) as Expected
  const actions = expect.actions?.map(without)
  const left = { ...without(expect), ...(actions && { actions }) }
  if (Object.keys(left).length === 0) return []
  const value = { ...rest, request: { ...request, endpoint: rename(request.endpoint) }, expect: left }
  return [{ ...item, value }]
}

function isAdjusted(action: MappingValue['action'], use: PresetUse): boolean {
  return adjustableFields[action].some((name) => use[name] !== undefined)
}
