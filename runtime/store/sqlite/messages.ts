/** The messages between the main thread and the writer's thread of the embedded store. */

import type { Limits } from '../context.ts'
import type { Id } from '../port.ts'
import type { Happened, Opened, PlainError, Post, Reply } from '../protocol.ts'

/** The writer's settings at its start. */
export interface WriterData {
  readonly folder: string
  readonly node: Id
  readonly now: number
  readonly limits: Limits
  readonly historyMessages: number
}

export type ToWriter =
  | { readonly type: 'post'; readonly post: Post }
  /** Checks that the open files are still those at their paths. */
  | { readonly type: 'check-files' }
  /** Puts the store into a new file, once the reader has closed its connection. */
  | { readonly type: 'rescue'; readonly now: number }
  | { readonly type: 'close' }

export type FromWriter =
  | ({ readonly type: 'opened' } & Opened)
  | { readonly type: 'failed'; readonly error: PlainError }
  | { readonly type: 'reply'; readonly reply: Reply }
  | { readonly type: 'happened'; readonly happened: Happened }
  /** A rescue has been tried. */
  | { readonly type: 'done' }
