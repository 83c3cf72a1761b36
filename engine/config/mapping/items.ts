/** Lists the content of all files of one load in matching order: items of lists, and policies, each with its place. */

import { backgroundMs, yieldIfDue } from '../../yield.ts'
import type { Origin } from '../configuration.ts'
import type { CheckedFile } from '../file/checked-file.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import type { Path } from '../path.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import type { MappingFileValue, MappingValue } from '../schema/mapping-schema.ts'
import type { TestValue } from '../schema/test-schema.ts'
import type { PolicySet, PolicySets } from './endpoint-policies.ts'
import type { Item } from './entries.ts'

/** A preset in use, with the configuration's adjustments. */
export interface Preset {
  readonly name: string
  readonly mappings: readonly Item[]
  readonly tests: readonly Item<TestValue>[]
  readonly policies: PolicySet
}

type MainFile = CheckedFile<ConfigurationValue> | undefined
type MappingFiles = readonly CheckedFile<MappingFileValue>[]

export function policySets(main: MainFile, files: MappingFiles, presets: readonly Preset[]): PolicySets {
  const own = main && {
    source: main.source,
    path: ['hooks', 'endpoints'],
    policies: main.value.hooks?.endpoints,
  }
  return {
    main: own,
    files: files.map(({ source, value }) => ({ source, path: ['endpoints'], policies: value.endpoints })),
    presets: presets.map(({ policies }) => policies),
  }
}

/** Lists the configuration's own items first, then those of files, then those of presets. */
export async function mappingItems(
  main: MainFile,
  files: MappingFiles,
  presets: readonly Preset[],
): Promise<Item[]> {
  const items: Item[] = []
  const put = (all: Iterable<Item>) => {
    for (const item of all) items.push(item)
  }
  if (main) {
    const own = originOf('configuration', main.source)
    put(itemsIn<MappingValue>(main.source, own, main.value.hooks?.mappings, ['hooks', 'mappings']))
  }
  for (const { source, value } of files) {
    await yieldIfDue(backgroundMs)
    put(itemsIn<MappingValue>(source, originOf('file', source), value.mappings, ['mappings']))
  }
  for (const { mappings } of presets) put(mappings)
  return items
}

/** Leaves out a preset's test of a mapping that the operator replaced, since it would only show the difference. */
export async function testItems(
  files: MappingFiles,
  presets: readonly Preset[],
  replaced: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Item<TestValue>[]> {
  const items: Item<TestValue>[] = []
  for (const { source, value } of files) {
    await yieldIfDue(backgroundMs)
    for (const item of itemsIn<TestValue>(source, originOf('file', source), value.tests, ['tests']))
      items.push(item)
  }
  for (const { name, tests } of presets) {
    const isReplaced = (id: string | undefined) => replaced.get(name)?.has(id ?? '') ?? false
    for (const item of tests) {
      const { expect } = item.value
      if (![expect, ...(expect.actions ?? [])].some(({ mapping }) => isReplaced(mapping))) items.push(item)
    }
  }
  return items
}

function originOf(kind: Origin['kind'], { name }: ParsedFile): Origin {
  return { kind, name }
}

/** Yields nothing for a value that is not a list, which the schema has refused. */
export function* itemsIn<Value>(
  source: ParsedFile,
  origin: Origin,
  list: unknown,
  path: Path,
): Iterable<Item<Value>> {
  if (!Array.isArray(list)) return
  for (const [index, value] of list.entries())
    yield { value, source, path: [...path, index], position: index + 1, origin }
}
