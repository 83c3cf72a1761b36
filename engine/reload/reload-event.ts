/** Owns what the reloader tells. */

import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { BootKey } from './boot-settings.ts'

export type ReloadEvent =
  /** Another generation serves. `tookMs` counts from the start of loading. */
  | {
      readonly type: 'snapshot-swapped'
      readonly generation: number
      readonly digest: string
      readonly tookMs: number
      /** How many mappings can match. */
      readonly mappings: number
      readonly warnings: readonly Diagnostic[]
    }
  /** What was live goes on serving. */
  | {
      readonly type: 'candidate-rejected'
      readonly diagnostics: readonly Diagnostic[]
      /** Absent: loading itself broke down. */
      readonly digest?: string
      readonly tookMs: number
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
