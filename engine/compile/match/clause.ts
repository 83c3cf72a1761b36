/** Owns the clause: one condition of a `match` that is decided at once, and why it fails. */

import type { Path } from '../../config/path.ts'
import type { Equality, Steps } from '../../resolve/program.ts'
import type { Scope } from '../../resolve/scope.ts'
import type { FailedClause } from '../../resolve/trace.ts'

export interface Clause {
  /** From the mapping entry. */
  readonly path: Path
  readonly equalities: readonly Equality[]
  /** @throws StepLimitError, ClauseError */
  readonly holds: (scope: Scope, steps: Steps) => boolean
  /** Of a clause that does not hold. */
  readonly miss: (scope: Scope, steps: Steps) => FailedClause | undefined
}
