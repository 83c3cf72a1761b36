/** Defines what the reloader returns to its callers and reports to its listeners. */

import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { BootKey } from './boot-settings.ts'
import type { Changes } from './changes.ts'

/** The result of a reload or a rollback, whoever requested it. */
export interface ReloadResult {
  /**
   * `live`: the content is live now, under `generation`. `unchanged`: it was live before. `rejected`: it was refused,
   * and `generation` stays live.
   */
  readonly outcome: 'live' | 'unchanged' | 'rejected'
  /** True if it was not rejected. */
  readonly ok: boolean
  /** The generation that is live now. Absent if none ever was. */
  readonly generation?: number
  /** The SHA-256, in hex, of the content that was loaded. Absent if loading itself failed. */
  readonly digest?: string
  /** Milliseconds from the start of loading. */
  readonly tookMs: number
  /** The differences from the previous generation. */
  readonly changes: Changes
  /** The reasons why it was refused, or its warnings. */
  readonly diagnostics: readonly Diagnostic[]
  /** True if an old generation is live in place of the files, until they change. */
  readonly rolledBack?: true
}

export type ReloadEvent =
  /** Another generation is live. `mappings` is the number of those that can match. */
  | (ReloadResult & {
      readonly type: 'snapshot-swapped'
      readonly generation: number
      readonly mappings: number
    })
  /** The previous snapshot stays live. `rollbackTo` is the generation of a failed rollback. */
  | (ReloadResult & { readonly type: 'candidate-rejected'; readonly rollbackTo?: number })
  /** The content of the files is live already. This also ends a rejected edit that was undone. */
  | (ReloadResult & { readonly type: 'content-unchanged' })
  /** These keys changed, and the gateway continues with the values that it was started with. */
  | { readonly type: 'restart-required'; readonly generation: number; readonly keys: readonly BootKey[] }
  /** Something could not be released after a decision. The decision remains. */
  | { readonly type: 'release-failed'; readonly error: unknown }
  /** Changes may go unnoticed, and `reload` still works. */
  | { readonly type: 'watch-failed'; readonly error: unknown }

/** Must not throw. */
export type ReloadListener = (event: ReloadEvent) => void
