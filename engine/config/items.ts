/** Lists the content of one file of a load: the items of its lists, and its policies, each with its place. */

import type { Origin } from './configuration.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import type { PolicySet } from './rules/endpoint-policies.ts'
import type { MappingFileValue, MappingValue } from './schema/mapping-schema.ts'
import type { TestValue } from './schema/test-schema.ts'
import type { Path } from './values/path.ts'

/** One item of a list, with the place of the list. */
export interface Item<Value = MappingValue> {
  readonly value: Value
  readonly source: ParsedFile
  readonly path: Path
  /** The position from 1, for the name of an entry without an id. */
  readonly position: number
  readonly origin: Origin
  /** The place where a field is written instead, by its name; for `match.path` the name is `match.path`. */
  readonly overridden?: ReadonlyMap<string, WrittenPlace>
}

export interface WrittenPlace {
  readonly source: ParsedFile
  readonly path: Path
}

/** The hooks of one file, or the `hooks` block of the configuration. */
export interface HookPart {
  readonly mappings: readonly Item[]
  readonly tests: readonly Item<TestValue>[]
  readonly policies: PolicySet
}

/** `value` is at `above`. It has no lists and no policies where the schema has refused them. */
export function hookPart(
  kind: Origin['kind'],
  source: ParsedFile,
  value: Partial<MappingFileValue> | undefined,
  { above = [], name = source.name }: { readonly above?: Path; readonly name?: string } = {},
): HookPart {
  const origin = { kind, name } as const
  const itemsOf = <Value>(key: string, list: unknown): Item<Value>[] =>
    (Array.isArray(list) ? list : []).map((value, index) => {
      return { value, source, path: [...above, key, index], position: index + 1, origin }
    })
  return {
    mappings: itemsOf('mappings', value?.mappings),
    tests: itemsOf('tests', value?.tests),
    policies: { from: kind, source, path: [...above, 'endpoints'], policies: value?.endpoints },
  }
}
