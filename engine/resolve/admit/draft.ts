/** A draft is an action whose fields are not checked yet. */

import type { Segment } from '../../boundary/segment.ts'
import type { FieldName } from '../../config/values/fields.ts'
import type { AgentAction, Dedupe } from '../model/decision.ts'

export interface Draft {
  readonly kind: 'wake' | 'agent'
  readonly fields: Readonly<Partial<Record<FieldName, unknown>>>
  /** Replaces `channel` and `to`. */
  readonly deliverTo?: readonly { readonly channel?: unknown; readonly to?: unknown }[]
  /** The text or message in pieces, if it is known which of them are the operator's words. */
  readonly segments?: readonly Segment[]
  /** Describes the text for a fence around all of it: `a message to /agent`. */
  readonly label: string
  readonly trusted: boolean
  readonly mapping?: string
  readonly runner?: string
  readonly busy?: AgentAction['busy']
  /** The key is as it was rendered, of any length. */
  readonly coalesce?: AgentAction['coalesce']
  /** The key is as it was rendered, of any length. */
  readonly dedupe?: Dedupe
  /**
   * The fields that a transform gave. If one of them is invalid, the transform has failed, and the request is not at
   * fault.
   */
  readonly changed?: { readonly by: string; readonly fields: ReadonlySet<string> }
}
