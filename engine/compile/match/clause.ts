/** Defines a clause, which is one synchronous condition of a `match`, with an explanation of why it fails. */

import type { Path } from '../../config/values/path.ts'
import type { FailedClause } from '../../resolve/explain/trace.ts'
import type { Equality } from '../../resolve/program.ts'
import type { Scope } from '../../resolve/scope.ts'

export interface Clause {
  /** The path from the mapping entry. */
  readonly path: Path
  readonly equalities: readonly Equality[]
  /** @throws ClauseError, NeedsThread */
  readonly holds: (scope: Scope) => boolean
  /** Explains a clause that does not hold. */
  readonly miss: (scope: Scope) => FailedClause | undefined
  /** Counts the values of a clause that does not hold which would have to change. Absent: always one. @throws ClauseError, NeedsThread */
  readonly failures?: (scope: Scope) => number
}
