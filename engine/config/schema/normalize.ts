/**
 * Prepares a parsed value for its schema: leaves out keys without a value, replaces references, and copies everything,
 * so that aliases share nothing and no map has a prototype.
 */

import { mayHoldReference } from '../file/reference.ts'
import { own } from '../values/is-record.ts'
import type { Path } from '../values/path.ts'
import type { SchemaNode } from './keywords.ts'

/** A string with `${` in it. */
export interface PlacedReference {
  readonly path: Path
  readonly text: string
  /** The types that the schema expects here. */
  readonly type: readonly string[]
}

/** `resolve` returns the value of a reference. If it returns undefined, the key is left out. */
export function normalizeValue(
  value: unknown,
  schema: SchemaNode,
  resolve: (reference: PlacedReference) => unknown = ({ text }) => text,
): unknown {
  function normalize(
    current: unknown,
    node: SchemaNode | undefined,
    path: Path,
    inherited: boolean,
  ): unknown {
    const mayResolve = inherited && node?.references !== false
    if (typeof current === 'string' && mayResolve && path.length > 0 && mayHoldReference(current))
      return resolve({ path, text: current, type: [node?.type ?? []].flat() })
    // A list keeps its length, so that the items after a reference without a value keep their places.
    if (Array.isArray(current))
      return current.map((item, index) => normalize(item, node?.items, [...path, index], mayResolve) ?? item)
    if (typeof current !== 'object' || current === null) return current
    const map: Record<string, unknown> = Object.create(null)
    for (const [key, item] of Object.entries(current)) {
      const propertySchema = own(node?.properties ?? {}, key)
      if (item === null && propertySchema) continue
      const otherSchema = node?.additionalProperties
      const itemSchema = propertySchema ?? (typeof otherSchema === 'object' ? otherSchema : undefined)
      // `terminal:` without a value names a channel with an empty configuration.
      const present = item ?? (itemSchema?.type === 'object' ? {} : null)
      const shaped = normalize(present, itemSchema, [...path, key], mayResolve)
      if (shaped !== undefined) map[key] = shaped
    }
    return map
  }

  return normalize(value, schema, [], true)
}

/** Lists the references in a value, in the order in which {@link normalizeValue} resolves them. */
export function findReferences(value: unknown, schema: SchemaNode): readonly PlacedReference[] {
  const found: PlacedReference[] = []
  normalizeValue(value, schema, (reference) => found.push(reference))
  return found
}

/** Returns a part of a file's value as JSON would have it: nothing shared, and ordinary maps. */
export function plainCopy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}
