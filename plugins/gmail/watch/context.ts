/** Describes what all work on one mailbox shares, from one consent to the next. */

import type { PluginLog, SourceCall } from '@reveille/kit'
import type { GmailConfiguration } from '../configuration.ts'
import type { Gmail } from '../google/port.ts'
import type { CursorCell } from './cursor-cell.ts'
import type { RetryContext } from './retry.ts'

export interface WatchContext extends RetryContext {
  readonly gmail: Gmail
  readonly config: GmailConfiguration
  readonly log: PluginLog
  readonly call: SourceCall
  readonly cursor: CursorCell
  /** The id of the label. */
  readonly label: string
}

/** The same, before the label has been found. */
export type UnlabelledContext = Omit<WatchContext, 'label'>
