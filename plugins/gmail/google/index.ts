/** The one door to Google. */

import type { SourceClock, SourceStorage } from '@reveille/kit'
import type { BaseUrls } from '../configuration.ts'
import type { Credentials } from './credentials.ts'
import type { Gmail, PubSub } from './port.ts'

export { readNotification } from './notification.ts'

export interface Google {
  readonly gmail: Gmail
  readonly pubsub: PubSub
}

export interface GoogleOptions {
  readonly credentials: Credentials
  /** Where renewed tokens are written down. */
  readonly storage: SourceStorage
  readonly baseUrls: BaseUrls
  readonly fetch: typeof fetch
  readonly clock: SourceClock
}

/** Loads Google's libraries. */
export async function openGoogle(options: GoogleOptions): Promise<Google> {
  const { open } = await import('./open.ts')
  return open(options)
}
