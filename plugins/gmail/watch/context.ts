/** Owns what all that is done to one mailbox has in common, from one consent to the next. */

import type { PluginLog, SourceCall } from '@reveille/kit'
import type { GmailConfiguration } from '../configuration.ts'
import type { Google } from '../google/port.ts'
import type { CursorCell } from './cursor-cell.ts'
import type { RetryContext } from './retry.ts'

export interface WatchContext extends RetryContext, Google {
  readonly config: GmailConfiguration
  readonly log: PluginLog
  readonly call: SourceCall
  readonly cursor: CursorCell
  /** The id. */
  readonly label: string
}

/** Whose label is yet to be found. */
export type UnlabelledContext = Omit<WatchContext, 'label'>
