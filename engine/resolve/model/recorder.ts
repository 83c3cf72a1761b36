/** The recorder receives what resolving reports for an explanation. Ordinary requests have none. */

import type { Segment } from '../../boundary/segment.ts'
import type { Action } from './decision.ts'
import type { EffectivePolicy } from './effective-policy.ts'
import type { Change, FieldTrace } from './trace.ts'

export interface TraceRecorder {
  /** An action of the mapping begins. With `forEach`, `index` is the position of the element. */
  readonly onAction: (mapping: string, index: number | undefined) => void
  readonly onVar: (name: string, value: unknown) => void
  /** Called again if the action is rendered again. */
  readonly onField: (
    field: string,
    from: FieldTrace['from'],
    value: unknown,
    segments?: readonly Segment[],
  ) => void
  /** A transform has answered with this change to the rendered action, as the element at this position of its answer. */
  readonly onTransformed: (position: number, change: Change) => void
  /** A transform made no action of the rendered one. */
  readonly onSkipped: () => void
  /** `endpointPolicy` is the effective policy of the endpoint. */
  readonly onAdmitted: (action: Action, endpointPolicy: EffectivePolicy | undefined) => void
}
