/** What resolving reports to an explanation. Ordinary requests have no recorder. */

import type { Segment } from '../../boundary/segment.ts'
import type { Action } from '../decision.ts'
import type { EffectivePolicy } from '../effective-policy.ts'
import type { Change, FieldTrace } from './trace.ts'

export interface Recorder {
  /** An action of that mapping begins; `index` is the element's, with `forEach`. */
  readonly onAction: (mapping: string, index: number | undefined) => void
  readonly onVar: (name: string, value: unknown) => void
  /** Is called again where the action is rendered again. */
  readonly onField: (
    field: string,
    from: FieldTrace['from'],
    value: unknown,
    segments?: readonly Segment[],
  ) => void
  /**
   * A transform has answered: the action that was rendered with this change on it, as the first, second … of what
   * the transform made of it.
   */
  readonly onTransformed: (position: number, change: Change) => void
  /** Of the action that was rendered a transform made nothing. */
  readonly onSkipped: () => void
  /** `endpointPolicy` is what the policies of the endpoint say together. */
  readonly onAdmitted: (action: Action, endpointPolicy: EffectivePolicy | undefined) => void
  /** The request is ignored before any mapping is asked. */
  readonly onIgnored: () => void
}
