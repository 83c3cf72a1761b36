/** Owns what the operations of all services are given. */

import type { Values } from './description/check.ts'
import type { Grant } from './oauth/grants.ts'

export interface Request {
  /** From the path, decoded. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Values
  // biome-ignore lint/suspicious/noExplicitAny: it has the shape that the description checked.
  readonly body: any
  readonly caller: { readonly account: string; readonly scopes: readonly string[]; readonly grant: Grant }
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** Answers what goes out as JSON; undefined is an empty answer, 204. @throws Refusal */
export type Handler = (request: Request) => object | undefined | Promise<object | undefined>

/** By id of the operation. */
export type Handlers = Readonly<Record<string, Handler>>
