/** Owns reading what is kept of a consent, and whether it is enough. */

import type { SourceStorage } from '@reveille/kit'
import { type Credentials, parseCredentials, scopes } from '../google/credentials.ts'
import { readStored } from './client.ts'

/** Undefined where there are none that could be used. */
export async function readCredentials(storage: SourceStorage): Promise<Credentials | undefined> {
  return parseCredentials(await readStored(storage, 'credentials'))
}

/** As Google's page names them. https://developers.google.com/identity/protocols/oauth2/scopes */
const boxes: Readonly<Record<(typeof scopes)[number], string>> = {
  'https://www.googleapis.com/auth/gmail.readonly': 'View your email messages and settings',
  'https://www.googleapis.com/auth/pubsub': 'View and manage Pub/Sub topics and subscriptions',
}

/** The boxes on Google's page that are to be ticked and were not. */
export function missingBoxes(granted: readonly string[]): readonly string[] {
  return scopes.filter((scope) => !granted.includes(scope)).map((scope) => boxes[scope])
}
