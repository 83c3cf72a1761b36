/** A clause: one condition of a `match` that is decided synchronously, and why it fails. */

import type { Path } from '../../config/path.ts'
import type { FailedClause } from '../../resolve/explain/trace.ts'
import type { Equality } from '../../resolve/program.ts'
import type { Scope } from '../../resolve/scope.ts'

export interface Clause {
  /** From the mapping entry. */
  readonly path: Path
  readonly equalities: readonly Equality[]
  /** @throws ClauseError, NeedsThread */
  readonly holds: (scope: Scope) => boolean
  /** Of a clause that does not hold. */
  readonly miss: (scope: Scope) => FailedClause | undefined
}
