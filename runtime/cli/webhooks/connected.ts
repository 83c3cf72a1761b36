/** What the commands of one source or provider are given. */

import type { SetupDescription } from '@reveille/kit'

/** The options of a command and its argument, by the names that the plugin has for them. */
export type Given = Readonly<Record<string, unknown>>

export interface Connected {
  readonly name: string
  readonly setup: SetupDescription
}
