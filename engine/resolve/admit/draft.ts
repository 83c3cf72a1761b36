/** The draft: an action as asked for, its fields not yet checked. */

import type { Segment } from '../../boundary/segment.ts'
import type { FieldName } from '../../config/fields.ts'
import type { AgentAction, Dedupe } from '../decision.ts'

export interface Draft {
  readonly kind: 'wake' | 'agent'
  readonly fields: Readonly<Partial<Record<FieldName, unknown>>>
  /** Instead of `channel` and `to`. */
  readonly deliverTo?: readonly { readonly channel: unknown; readonly to: unknown }[]
  /** The text or message in pieces, where it is known which of them are the operator's words. */
  readonly segments?: readonly Segment[]
  /** What the text is, for the fence around a whole one: `a message to /agent`. */
  readonly label: string
  readonly trusted: boolean
  readonly mapping?: string
  readonly runner?: string
  readonly busy?: AgentAction['busy']
  /** Its key as it was rendered, of any length. */
  readonly coalesce?: AgentAction['coalesce']
  /** The same holds for its key. */
  readonly dedupe?: Dedupe
  /** What a transform has a part in: what is wrong with those fields is its fault, and not the request's. */
  readonly changed?: { readonly by: string; readonly fields: ReadonlySet<string> }
}
