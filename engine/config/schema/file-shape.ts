/** Describes a kind of file: its schema, with the items of long lists separated. */

import type { TObject, TSchema } from 'typebox'
import type { Path } from '../values/path.ts'

/** Items are checked one by one, so that unchanged ones need not be checked again. */
export interface FileShape {
  /** The schema of everything but the items, as if the lists were empty. */
  readonly frame: TSchema
  readonly lists: readonly { readonly path: Path; readonly item: TSchema }[]
}

/** `lists` are the paths of the lists, which lead through maps alone. */
export function defineFileShape(schema: TSchema, lists: readonly Path[]): FileShape {
  let frame = schema
  const apart = lists.map((path) => {
    const { items, ...list } = schemaAt(schema, path) as TSchema & { items: TSchema }
    frame = replaceAt(frame, path, list as TSchema)
    // Whether references below the list are plain text applies to each of its items.
    return { path, item: 'references' in list ? { ...items, references: list.references } : items }
  })
  return { frame, lists: apart }
}

function schemaAt(schema: TSchema, path: Path): TSchema {
  return path.reduce<TSchema>((holder, key) => (holder as TObject).properties[key] as TSchema, schema)
}

function replaceAt(schema: TSchema, [key, ...rest]: Path, list: TSchema): TSchema {
  if (key === undefined) return list
  const { properties } = schema as TObject
  const child = replaceAt(properties[key] as TSchema, rest, list)
  return { ...schema, properties: { ...properties, [key]: child } } as TSchema
}
