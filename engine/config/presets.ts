/** Reads the presets in use, and applies the configuration's adjustments to their mappings, policies and tests. */

import { join } from 'node:path'
import { type Finding, noEffect } from './file/diagnostic.ts'
import type { Diagnostics } from './file/diagnostics.ts'
import { type LoadContext, ReadError } from './file/load-context.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import { type HookPart, hookPart, type Item, type WrittenPlace } from './items.ts'
import { checkMatchPath, checkTargets } from './rules/mapping-rules.ts'
import { type CheckedFile, checkFile, readText } from './schema/checked-file.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'
import { type MappingFileValue, type MappingValue, mappingFileSchema } from './schema/mapping-schema.ts'
import { type AdjustableField, adjustableFields, type PresetUse } from './schema/preset-schema.ts'
import type { TestValue } from './schema/test-schema.ts'
import { mailbox, mailboxPath } from './values/mailbox.ts'
import { nearestName } from './values/nearest.ts'
import type { Path } from './values/path.ts'

type MainFile = CheckedFile<ConfigurationValue>

const listPath: Path = ['hooks', 'presets']

/** Returns presets in their listed order, and reports those that cannot be used. Without `folder` there are none. */
export async function loadPresets(
  main: MainFile | undefined,
  folder: string | undefined,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<HookPart[]> {
  const listed = main?.value.hooks?.presets
  if (!main || !Array.isArray(listed) || listed.length === 0) return []
  const presetNames = await shippedNames(folder, context)
  if (!Array.isArray(presetNames)) diagnostics.report(main.source, [presetNames])
  if (!Array.isArray(presetNames) || folder === undefined) return []
  const presets: HookPart[] = []
  const used = new Set<string>()
  for (const [index, one] of listed.entries()) {
    const at = [...listPath, index]
    if (!diagnostics.isSound(main.source, at)) continue
    const use: PresetUse = typeof one === 'string' ? { name: one } : one
    const finding = checkName(use.name, typeof one === 'string' ? at : [...at, 'name'], presetNames, used)
    used.add(use.name)
    if (finding) {
      diagnostics.report(main.source, [finding])
      context.watched.add(folder)
      continue
    }
    const file = await readPreset(join(folder, `${use.name}.yaml`), use.name, context, diagnostics)
    if (file) presets.push(adjust(use, at, file, main, diagnostics))
  }
  return presets
}

async function shippedNames(folder: string | undefined, context: LoadContext): Promise<string[] | Finding> {
  const missing = { path: listPath, code: 'UNKNOWN_PRESET' }
  if (folder === undefined) {
    const problem = 'names presets, and none are shipped with this gateway'
    return { ...missing, problem, hint: 'Write mappings of your own instead.' }
  }
  try {
    const names = await context.listFolder(folder)
    return names.flatMap((name) => /^([^.].*)\.yaml$/.exec(name)?.[1] ?? [])
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    return { ...missing, message: `The folder of the built-in presets, ${folder}, ${error.message}` }
  }
}

function checkName(
  name: string,
  path: Path,
  known: readonly string[],
  used: ReadonlySet<string>,
): Finding | undefined {
  if (!known.includes(name)) {
    const nearest = nearestName(name, known)
    const hint = `${nearest ? `Did you mean \`${nearest}\`? ` : ''}There are: ${known.join(', ')}.`
    return { path, code: 'UNKNOWN_PRESET', problem: 'is not the name of a preset', hint }
  }
  if (!used.has(name)) return undefined
  const problem = 'names a preset for the second time'
  return { path, code: 'DUPLICATE_PRESET', problem, hint: 'Keep one of the two.' }
}

async function readPreset(file: string, name: string, context: LoadContext, diagnostics: Diagnostics) {
  context.watched.add(file)
  const text = await readText(file, context, diagnostics)
  if (text === undefined) return undefined
  const written = { kind: 'mappings', file, calledFile: `preset ${name}`, text } as const
  return checkFile<MappingFileValue>(mappingFileSchema, written, context, diagnostics)
}

/** The adjustments for all mappings of one preset. */
type Difference = PresetUse & Pick<MappingValue, 'allowUnsafeExternalContent'>

interface Adjustment {
  readonly use: Difference
  readonly source: ParsedFile
  readonly placeOf: (name: keyof Difference) => Path
  /** Maps the name of a preset's endpoint to the name under which it is served. */
  readonly rename: (endpoint: string) => string
}

function adjust(
  listed: PresetUse,
  at: Path,
  file: CheckedFile<MappingFileValue>,
  { source, value }: MainFile,
  diagnostics: Diagnostics,
): HookPart {
  const isMailbox = listed.name === mailbox && diagnostics.isSound(source, mailboxPath)
  const use: Difference = { ...(isMailbox && mailboxAdjustments(value.hooks[mailbox])), ...listed }
  const isSound = ({ path }: { readonly path: Path }) => diagnostics.isSound(file.source, path)
  const part = hookPart('preset', file.source, file.value, { name: use.name })
  const [mappings, tests] = [part.mappings.filter(isSound), part.tests.filter(isSound)]
  diagnostics.report(source, checkUse(listed, mappings), at)
  // An error in an adjustment is reported at the adjustment, and must not be reported in the preset again.
  const isAsShipped = Object.keys(use).length === 1 || !diagnostics.isSound(source, at)
  if (isAsShipped) return { ...part, mappings, tests }
  const rename = renaming(mappings, use.path)
  const placeOf = (field: keyof Difference) => [...(Object.hasOwn(listed, field) ? at : mailboxPath), field]
  return {
    mappings: mappings.map((item) => adjustMapping(item, { use, source, placeOf, rename })),
    tests: tests.flatMap((item) => adjustTest(item, use, rename)),
    policies: { ...part.policies, rename },
  }
}

/** Returns how the mailbox adjusts the runs of its preset. `hooks.presets` takes precedence. */
function mailboxAdjustments({
  model,
  thinking,
  allowUnsafeExternalContent,
}: ConfigurationValue['hooks'][typeof mailbox]) {
  return {
    ...(model !== undefined && { model }),
    ...(thinking !== undefined && { thinking }),
    ...(allowUnsafeExternalContent === true && { allowUnsafeExternalContent }),
  }
}

/** All paths begin at the entry of the list. */
function* checkUse(use: PresetUse, items: readonly Item[]): Iterable<Finding> {
  yield* checkTargets(use)
  if (use.path !== undefined) {
    yield* checkMatchPath(use.path, ['path'])
    const problem = 'cannot be set: the preset serves several endpoints'
    if (ownEndpoint(items) === undefined)
      yield { path: ['path'], code: 'INVALID_PATH', problem, hint: 'Leave it out.' }
  }
  const useful = new Set<AdjustableField>(items.flatMap(({ value }) => adjustableFields[value.action]))
  for (const name of Object.values(adjustableFields).flat()) {
    if (use[name] === undefined || useful.has(name)) continue
    yield noEffect([name], 'no mapping of the preset has such a field')
  }
}

/** Returns the endpoint that all mappings share, or lie below; `/` if they apply to every endpoint. */
function ownEndpoint(items: readonly Item[]): string | undefined {
  const paths = items.map(({ value }) => value.match?.path ?? '/')
  const [own = '/'] = paths.toSorted((one, other) => one.length - other.length)
  const isShared = paths.every((path) => path === own || (own !== '/' && path.startsWith(`${own}/`)))
  return isShared ? own : undefined
}

function renaming(items: readonly Item[], path: string | undefined): Adjustment['rename'] {
  const own = ownEndpoint(items)
  return (endpoint) => {
    if (path === undefined || own === undefined) return endpoint
    if (endpoint === own || own === '/') return path
    return endpoint.startsWith(`${own}/`) ? path + endpoint.slice(own.length) : endpoint
  }
}

function adjustMapping(item: Item, { use, source, placeOf, rename }: Adjustment): Item {
  const { value } = item
  const { action } = value
  const overridden = new Map<string, WrittenPlace>()
  const changed: Record<string, unknown> = { ...value }
  for (const name of droppedFields(action, use)) delete changed[name]
  const set = (name: keyof Difference, field: string, to: unknown) => {
    if (use[name] === undefined) return
    overridden.set(field, { source, path: placeOf(name) })
    changed[name === 'path' ? 'match' : name] = to
  }
  for (const name of adjustableFields[action]) set(name, name, use[name])
  if (action === 'agent') set('allowUnsafeExternalContent', 'allowUnsafeExternalContent', true)
  set('path', 'match.path', { ...value.match, path: rename(value.match?.path ?? '/') })
  return { ...item, value: changed as MappingValue, overridden }
}

/** Returns the fields that contradict the adjustment: an address belongs to its channel. */
function droppedFields(action: MappingValue['action'], use: PresetUse): readonly (keyof MappingValue)[] {
  if (action === 'wake') return use.mode === undefined ? [] : ['wakeMode']
  const isOtherChannel = use.deliverTo !== undefined || use.channel !== undefined
  return [
    ...(use.wakeMode === undefined ? [] : (['mode'] as const)),
    ...(isOtherChannel ? (['channel', 'to', 'deliverTo'] as const) : []),
    ...(use.to === undefined ? [] : (['deliverTo'] as const)),
  ]
}

/** Removes expectations about adjusted fields. Returns no test if no expectation is left. */
function adjustTest(item: Item<TestValue>, use: PresetUse, rename: Adjustment['rename']): Item<TestValue>[] {
  const { request, expect, ...rest } = item.value
  const fields = new Set<string>(
    (['wake', 'agent'] as const).flatMap((action) => {
      const adjusted = adjustableFields[action].filter((name) => use[name] !== undefined)
      return adjusted.length === 0 ? [] : [...adjusted, ...droppedFields(action, use)]
    }),
  )
  const without = <Expected extends object>(expected: Expected): Expected =>
    Object.fromEntries(Object.entries(expected).filter(([name]) => !fields.has(name))) as Expected
  const actions = expect.actions?.map(without)
  const left = { ...without(expect), ...(actions && { actions }) }
  if (Object.keys(left).length === 0) return []
  const value = { ...rest, request: { ...request, endpoint: rename(request.endpoint) }, expect: left }
  return [{ ...item, value }]
}
