/** From a notification to a post that is on disk. */

import type { PluginLog, SourceCall } from '@reveille/kit'
import type { GmailConfiguration } from '../configuration.ts'
import type { Credentials } from '../google/credentials.ts'
import type { Google } from '../google/index.ts'

export interface WatchOptions {
  readonly config: GmailConfiguration
  readonly log: PluginLog
  /** Opens Google with what a person consented to. */
  readonly open: (credentials: Credentials) => Promise<Google>
}

/** As the contract of sources says. */
export async function watchMailbox(_options: WatchOptions, _call: SourceCall): Promise<void> {
  throw new Error('not there yet')
}
