/** Owns what the checks look at: one configuration, and the gateway that it describes. */

import type { Settings } from '@reveille/engine'
import type { Compiled } from '../authoring/compile.ts'
import type { Io } from '../io.ts'

export interface Subject {
  readonly io: Io
  /** The configuration file; absolute. */
  readonly file: string
  /** What it compiles to, or all that is wrong with it. */
  readonly compiled: Compiled
  /** Absent where not even the block `gateway:` can be used. */
  readonly settings?: Settings
}
