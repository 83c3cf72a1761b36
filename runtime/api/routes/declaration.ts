/** Defines how a route of the API is declared. A declaration is plain data, so that tools and the console's types load nothing else with it. */

import { integer, list, object, optional, type Properties, type Schema, text } from './schema.ts'

/** What the holder of a token may do, each with all before it. */
export type Need = 'read' | 'operate' | 'configure'

export interface RouteDeclaration {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/api`. A parameter begins with a colon: `/requests/:id`. */
  readonly path: `/${string}`
  /** What the holder of a token must be allowed to do. */
  readonly needs: Need
  /** Flags of the query that need more than that. */
  readonly needsFor?: Readonly<Record<string, Need>>
  /** One sentence that begins with a verb. */
  readonly summary: string
  /** What the query may have. Its texts are read as numbers and flags where the schema says so. */
  readonly query?: Properties
  /** A closed object. Without a declared body, one that is sent is ignored. */
  readonly body?: Schema<object>
  /** The largest body, in bytes. Default: 64 KiB. */
  readonly maxBodyBytes?: number
  /** The answers by status, without the errors, which all have the same form. */
  readonly answers: Readonly<Record<number, Schema>>
  /** Whether the OpenAPI document leaves it out. Default: false. */
  readonly isUndocumented?: true
}

export type Routes = Readonly<Record<string, RouteDeclaration>>

/** What the query of every list may have. */
export const pageQuery = optional({
  limit: integer('How many there may be on the page.', { minimum: 1, maximum: 500 }),
  cursor: text('The `next` of the page before.', { minLength: 1, maxLength: 200 }),
})

/** Makes the answer of a list. */
export function pageOf<Item>(item: Schema<Item>) {
  return object({
    items: list(item),
    ...optional({ next: text('The cursor of the next page. Absent on the last page.') }),
  })
}
