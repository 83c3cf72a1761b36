/** `reveille webhooks gmail setup`, as far as Google is concerned. */

import type { ConnectCall, Connection } from '@reveille/kit'

/** What the person may ask for; all of it may be absent. */
export interface Wanted {
  readonly account?: string
  /** Of Google Cloud: where the OAuth client, the topic and the subscription are. Default: the client's own. */
  readonly project?: string
  /** The content of the OAuth desktop client's JSON file. Needed the first time. */
  readonly client?: unknown
  readonly label?: string
  readonly mode?: 'pull' | 'push'
  /** Whole names, or only the last part. */
  readonly topic?: string
  readonly subscription?: string
  /** The public address of `/hooks/gmail/push`. */
  readonly pushEndpoint?: string
  /** Whose tokens Google sends with notifications. */
  readonly pushServiceAccount?: string
  readonly includeBody?: boolean
  readonly maxBytes?: number
  readonly renewEveryMinutes?: number
  /** Another consent, though there is a good one. */
  readonly again?: boolean
  readonly baseUrls?: Readonly<Record<string, string>>
}

export async function connectMailbox(_call: ConnectCall): Promise<Connection> {
  throw new Error('not there yet')
}
