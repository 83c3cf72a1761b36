/** Declares what the operations of all services are given. */

import type { Values } from './description/check.ts'
import type { Grant } from './oauth/grants.ts'

export interface Request {
  /** The decoded parameters of the path. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Values
  // biome-ignore lint/suspicious/noExplicitAny: it has the shape that the description checked.
  readonly body: any
  readonly caller: { readonly account: string; readonly scopes: readonly string[]; readonly grant: Grant }
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal
}

/** Returns the JSON of the answer; undefined is an empty answer, 204. @throws Refusal */
export type Handler = (request: Request) => object | undefined | Promise<object | undefined>

/** Maps the id of an operation to its handler. */
export type Handlers = Readonly<Record<string, Handler>>
