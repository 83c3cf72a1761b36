/** Callbacks that collect the steps of a decision for an explanation. Ordinary requests have none. */

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
  /** A transform changed the rendered action; `position` is that of the action in its answer. */
  readonly onTransformed: (position: number, change: Change) => void
  /** A transform dropped the rendered action. */
  readonly onSkipped: () => void
  /** `endpointPolicy` is the effective policy of the endpoint. */
  readonly onAdmitted: (action: Action, endpointPolicy: EffectivePolicy | undefined) => void
}
