/** Finds the differences between two generations, by the names that the operator wrote. */

import { isDeepStrictEqual } from 'node:util'
import type { Configuration, EndpointPolicy, MappingEntry } from '../config/configuration.ts'
import type { ConfigurationValue } from '../config/schema/configuration-schema.ts'
import { isRecord } from '../config/values/is-record.ts'
import { mailboxPath } from '../config/values/mailbox.ts'
import type { Bundle } from '../transform/port.ts'

/** Holds names only, because values may be secret. */
export interface Changes {
  /** Mappings by id. */
  readonly mappings: Difference & {
    /** True if the common mappings are in another order, which decides which of them wins. */
    readonly reordered: boolean
  }
  /** Policies by endpoint. */
  readonly endpoints: Difference
  /** Transforms by module. One with changed imports has changed. */
  readonly transforms: Difference
  /** Keys of the configuration file: `hooks.token`. */
  readonly settings: readonly string[]
  /** The changed keys that wait for a restart. */
  readonly restart: readonly string[]
}

export interface Difference {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** The parts of a generation that are compared. */
export interface Compared {
  readonly configuration: Pick<Configuration, 'mappings' | 'endpoints' | 'value'>
  readonly bundles: ReadonlyMap<string, Bundle>
}

/** Without `before`, everything in `after` was added. `heldKeys` are the settings that keep their old values. */
export function findChanges(
  before: Compared | undefined,
  after: Compared,
  heldKeys: readonly string[] = [],
): Changes {
  const old = before?.configuration
  const { mappings, endpoints, value } = after.configuration
  const changed = old === undefined ? [] : changedKeys(old.value, value)
  return {
    mappings: differingMappings(old?.mappings ?? [], mappings),
    endpoints: differ(byName(old?.endpoints ?? {}), byName(endpoints), isSame),
    transforms: differ(
      before?.bundles ?? new Map(),
      after.bundles,
      (one, other) => one.digest === other.digest,
    ),
    settings: [...new Set([...changed, ...heldKeys])].sort(),
    restart: heldKeys,
  }
}

export const noChanges: Changes = {
  mappings: { added: [], changed: [], removed: [], reordered: false },
  endpoints: { added: [], changed: [], removed: [] },
  transforms: { added: [], changed: [], removed: [] },
  settings: [],
  restart: [],
}

function differingMappings(
  before: readonly MappingEntry[],
  after: readonly MappingEntry[],
): Changes['mappings'] {
  const mappingsBefore = byId(before)
  const mappingsAfter = byId(after)
  return {
    ...differ(
      mappingsBefore,
      mappingsAfter,
      (one, other) => isSame(one.value, other.value) && isSame(one.parameters, other.parameters),
    ),
    reordered: isReordered(mappingsBefore, mappingsAfter),
  }
}

function byId(mappings: readonly MappingEntry[]): ReadonlyMap<string, MappingEntry> {
  return new Map(mappings.map((entry) => [entry.id, entry]))
}

function byName(policies: Configuration['endpoints']): ReadonlyMap<string, EndpointPolicy> {
  return new Map(Object.entries(policies))
}

/** In the common case an unchanged entry is the same object. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(one, other)
}

function differ<Value>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
  same: (one: Value, other: Value) => boolean,
): Difference {
  const added: string[] = []
  const changed: string[] = []
  for (const [name, value] of after) {
    const old = before.get(name)
    if (old === undefined) added.push(name)
    else if (!same(old, value)) changed.push(name)
  }
  return { added, changed, removed: [...before.keys()].filter((name) => !after.has(name)) }
}

function isReordered(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): boolean {
  const shared = [...after.keys()].filter((id) => before.has(id))
  const earlier = [...before.keys()].filter((id) => after.has(id))
  return shared.some((id, index) => id !== earlier[index])
}

/** The operator chooses the names below these keys, and anything below such a name is reported as one. */
const named = new Set([
  'hooks.transforms.modules',
  'agents.runners',
  'agents.prices',
  'agents.providers',
  'channels',
  'sources',
  'observers',
])

/** Reported as one: there are several ways to write the models, and only a plugin knows the keys of a mailbox. */
const wholes = new Set(['agents.defaults.models', mailboxPath.join('.')])

/** Not listed as settings: mappings and policies have lists of their own, and `$schema` is for editors. */
const elsewhere = new Set(['$schema', 'hooks.presets', 'hooks.endpoints', 'hooks.mappings'])

function changedKeys(before: ConfigurationValue, after: ConfigurationValue): string[] {
  const keys: string[] = []
  const walk = (one: unknown, other: unknown, path: string, isWhole: boolean): void => {
    if (elsewhere.has(path) || isSame(one, other)) return
    if (isWhole || !isRecord(one) || !isRecord(other)) {
      keys.push(path)
      return
    }
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const below = path === '' ? name : `${path}.${name}`
      walk(one[name], other[name], below, named.has(path) || wholes.has(below))
    }
  }
  walk(before, after, '', false)
  return keys
}
