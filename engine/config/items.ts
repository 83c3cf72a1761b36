/** Lists the content of all files of one load in matching order: items of lists, and policies, each with its place. */

import type { Origin } from './configuration.ts'
import type { Item } from './entries.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import type { PolicySet, PolicySets } from './rules/endpoint-policies.ts'
import type { CheckedFile } from './schema/checked-file.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'
import type { MappingFileValue, MappingValue } from './schema/mapping-schema.ts'
import type { TestValue } from './schema/test-schema.ts'
import type { Path } from './values/path.ts'

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
export function mappingItems(main: MainFile, files: MappingFiles, presets: readonly Preset[]): Item[] {
  const path = ['hooks', 'mappings']
  const own =
    main &&
    itemsIn<MappingValue>(
      main.source,
      originOf('configuration', main.source),
      main.value.hooks?.mappings,
      path,
    )
  return [
    ...(own ?? []),
    ...files.flatMap(({ source, value }) =>
      itemsIn<MappingValue>(source, originOf('file', source), value.mappings, ['mappings']),
    ),
    ...presets.flatMap(({ mappings }) => mappings),
  ]
}

/** Leaves out a preset's test of a mapping that the operator replaced, since it would only show the difference. */
export function testItems(
  files: MappingFiles,
  presets: readonly Preset[],
  replaced: ReadonlyMap<string, ReadonlySet<string>>,
): Item<TestValue>[] {
  const own = files.flatMap(({ source, value }) =>
    itemsIn<TestValue>(source, originOf('file', source), value.tests, ['tests']),
  )
  const shipped = presets.flatMap(({ name, tests }) =>
    tests.filter(({ value: { expect } }) =>
      [expect, ...(expect.actions ?? [])].every(({ mapping = '' }) => !replaced.get(name)?.has(mapping)),
    ),
  )
  return [...own, ...shipped]
}

function originOf(kind: Origin['kind'], { name }: ParsedFile): Origin {
  return { kind, name }
}

/** Returns nothing for a value that is not a list, which the schema has refused. */
export function itemsIn<Value>(
  source: ParsedFile,
  origin: Origin,
  list: unknown,
  path: Path,
): readonly Item<Value>[] {
  if (!Array.isArray(list)) return []
  return list.map((value, index) => ({ value, source, path: [...path, index], position: index + 1, origin }))
}
