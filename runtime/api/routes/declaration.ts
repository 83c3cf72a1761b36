/** Defines how a route of the API is declared: with schemas that validate, that are the types of handlers, and that describe it in OpenAPI. */

import { type TObject, type TSchema, Type } from '@reveille/engine/schema'
import { optional, type Properties } from './schema.ts'

/** Permissions of a token; each includes all before it. */
export type Need = 'read' | 'operate' | 'configure'

export interface RouteDeclaration {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/api`. A parameter begins with a colon: `/requests/:id`. */
  readonly path: `/${string}`
  /** Permission that the token needs. */
  readonly needs: Need
  /** Flags of the query that need more than that. */
  readonly needsFor?: Readonly<Record<string, Need>>
  /** One sentence that begins with a verb. */
  readonly summary: string
  /** Properties of the query. Its strings are read as numbers and flags where the schema says so. */
  readonly query?: Properties
  /** A closed object. Without a declared body, one that is sent is ignored. */
  readonly body?: TObject
  /** The largest body, in bytes. Default: 64 KiB. */
  readonly maxBodyBytes?: number
  /** The answers by status, without the errors, which all have the same form. */
  readonly answers: Readonly<Record<number, TSchema>>
  /** True if the OpenAPI document leaves it out. Default: false. */
  readonly isUndocumented?: true
}

export type Routes = Readonly<Record<string, RouteDeclaration>>

/** Query properties of every list. */
export const pageQuery = optional({
  limit: Type.Integer({ description: 'Maximum number of items on the page.', minimum: 1, maximum: 500 }),
  cursor: Type.String({ description: 'The `next` of the page before.', minLength: 1, maxLength: 200 }),
})

/** Makes the answer of a list. */
export function pageOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    ...optional({
      next: Type.String({ description: 'The cursor of the next page. Absent on the last page.' }),
    }),
  })
}
