/** What the reloader answers to its callers and reports to its listeners. */

import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { BootKey } from './boot-settings.ts'
import type { Changes } from './changes.ts'

/** How a reload, or the way back to an old generation, ended. The same wherever it was asked for. */
export interface ReloadResult {
  /**
   * `live`: the content serves now, under `generation`. `unchanged`: it did before. `rejected`: it was refused, and
   * `generation` serves on.
   */
  readonly outcome: 'live' | 'unchanged' | 'rejected'
  /** Not rejected. */
  readonly ok: boolean
  /** What serves now; absent where nothing ever did. */
  readonly generation?: number
  /** SHA-256 in hex of the content that was looked at; absent where loading itself broke down. */
  readonly digest?: string
  /** From the start of loading, in milliseconds. */
  readonly tookMs: number
  /** To what served before. */
  readonly changes: Changes
  /** Why it was refused, or what it warns of. */
  readonly diagnostics: readonly Diagnostic[]
  /** What went live serves in the place of the files, until they change. */
  readonly rolledBack?: true
}

export type ReloadEvent =
  /** Another generation serves. `tookMs` counts from the start of loading. */
  | {
      readonly type: 'snapshot-swapped'
      readonly generation: number
      readonly digest: string
      readonly tookMs: number
      /** How many mappings can match. */
      readonly mappings: number
      readonly changes: Changes
      readonly warnings: readonly Diagnostic[]
      /** It serves in the place of the files, until they change. */
      readonly rolledBack?: true
    }
  /** What was live goes on serving. */
  | {
      readonly type: 'candidate-rejected'
      readonly diagnostics: readonly Diagnostic[]
      /** Absent: loading itself broke down. */
      readonly digest?: string
      readonly tookMs: number
      /** It was not made from the files: this generation was to serve again. */
      readonly rollbackTo?: number
    }
  /** The files say what is live already; also how a rejected edit ends that was taken back. */
  | { readonly type: 'content-unchanged'; readonly generation: number; readonly tookMs: number }
  /** These keys changed, and the gateway goes on with the values that it was started with. */
  | { readonly type: 'restart-required'; readonly generation: number; readonly keys: readonly BootKey[] }
  /** Something could not be let go of after a decision; the decision stands. */
  | { readonly type: 'release-failed'; readonly error: unknown }
  /** Changes may go unseen; `reload` still works. */
  | { readonly type: 'watch-failed'; readonly error: unknown }

/** Must not throw. */
export type ReloadListener = (event: ReloadEvent) => void
