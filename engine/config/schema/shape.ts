/**
 * Prepares a parsed value for its schema: leaves out keys without a value, finds references, and copies everything, so
 * that aliases share nothing and no map has a prototype.
 */

import { mayHoldReference } from '../file/reference.ts'
import type { Path } from '../values/path.ts'
import type { SchemaNode } from './keywords.ts'

/** A text with `${` in it, and where its value belongs. */
export interface Pending {
  readonly path: Path
  readonly text: string
  assign(value: unknown): void
  /** Leaves the key out, as if it had not been written. */
  drop(): void
  /** The types that the schema expects here. */
  readonly type: readonly string[]
}

interface Shaped {
  readonly value: unknown
  readonly pending: readonly Pending[]
}

export function shapeValue(value: unknown, schema: SchemaNode): Shaped {
  const pending: Pending[] = []

  function shape(current: unknown, node: SchemaNode | undefined, path: Path, open: boolean): unknown {
    const references = open && node?.references !== false
    if (Array.isArray(current)) {
      const list: unknown[] = []
      current.forEach((item, index) => {
        list[index] = put(list, index, item, node?.items, [...path, index], references)
      })
      return list
    }
    if (typeof current !== 'object' || current === null) return current
    const map: Record<string, unknown> = Object.create(null)
    for (const [key, item] of Object.entries(current)) {
      const known = knownSchema(node, key)
      const listed = known !== undefined && known === ownSchema(node, key)
      if (item === null && listed) continue
      map[key] = put(map, key, item ?? emptyOf(known), known, [...path, key], references)
    }
    return map
  }

  function put(
    holder: Record<string | number, unknown> | unknown[],
    key: string | number,
    item: unknown,
    node: SchemaNode | undefined,
    path: Path,
    references: boolean,
  ): unknown {
    if (references && node?.references !== false && typeof item === 'string' && mayHoldReference(item)) {
      const slot = holder as Record<string | number, unknown>
      pending.push({
        path,
        text: item,
        type: typesOf(node),
        assign: (resolved) => {
          slot[key] = resolved
        },
        // A list keeps its length, so that the items after it keep their places.
        drop: () => {
          if (!Array.isArray(holder)) delete slot[key]
        },
      })
    }
    return shape(item, node, path, references)
  }

  return { value: shape(value, schema, [], true), pending }
}

function ownSchema(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  return node?.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined
}

function knownSchema(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  const rest = node?.additionalProperties
  return ownSchema(node, key) ?? (typeof rest === 'object' ? rest : undefined)
}

/** `terminal:` without a value names a channel with an empty configuration. */
function emptyOf(node: SchemaNode | undefined): unknown {
  return node?.type === 'object' ? {} : null
}

function typesOf(node: SchemaNode | undefined): readonly string[] {
  return [node?.type ?? []].flat()
}

/** Returns a part of a file's value as JSON would have it: nothing shared, and ordinary maps. */
export function plainCopy<Value>(value: Value): Value {
  const { value: copied } = shapeValue(value, { references: false })
  return JSON.parse(JSON.stringify(copied)) as Value
}
