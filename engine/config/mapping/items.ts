/** Owns what the files of one load hold, in matching order: items of lists, and policies, each with its place. */

import type { Origin } from '../configuration.ts'
import type { CheckedFile } from '../file/checked-file.ts'
import type { Source } from '../file/source.ts'
import type { Path } from '../path.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import type { MappingFileValue, MappingValue } from '../schema/mapping-schema.ts'
import type { TestValue } from '../schema/test-schema.ts'
import type { PolicySets } from './endpoint-policies.ts'
import type { Item } from './entries.ts'
import type { Preset } from './presets.ts'

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

/** The configuration's own first, then the files', then those of presets. */
export function mappingItems(main: MainFile, files: MappingFiles, presets: readonly Preset[]): Item[] {
  const own = main
    ? itemsIn<MappingValue>(main.source, originOf('configuration', main.source), main.value.hooks?.mappings, [
        'hooks',
        'mappings',
      ])
    : []
  return [
    ...own,
    ...files.flatMap(({ source, value }) => [
      ...itemsIn<MappingValue>(source, originOf('file', source), value.mappings, ['mappings']),
    ]),
    ...presets.flatMap(({ mappings }) => mappings),
  ]
}

/** A preset's test of a mapping that gave way to the operator's would only say that they differ. */
export function testItems(
  files: MappingFiles,
  presets: readonly Preset[],
  replaced: ReadonlyMap<string, ReadonlySet<string>>,
): Item<TestValue>[] {
  const own = files.flatMap(({ source, value }) => [
    ...itemsIn<TestValue>(source, originOf('file', source), value.tests, ['tests']),
  ])
  const shipped = presets.flatMap(({ name, tests }) =>
    tests.filter(({ value: { expect } }) =>
      [expect, ...(expect.actions ?? [])].every(({ mapping }) => !replaced.get(name)?.has(mapping ?? '')),
    ),
  )
  return [...own, ...shipped]
}

function originOf(kind: Origin['kind'], { name }: Source): Origin {
  return { kind, name }
}

/** Nothing for what is no list, which the schema has refused. */
export function* itemsIn<Value>(
  source: Source,
  origin: Origin,
  list: unknown,
  path: Path,
): Iterable<Item<Value>> {
  if (!Array.isArray(list)) return
  const written = source.items(path)
  for (const [index, value] of list.entries()) {
    const stages = written?.[index]?.stages ?? new Map()
    yield { value, source, path: [...path, index], position: index + 1, origin, stages }
  }
}
