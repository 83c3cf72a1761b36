/** Owns which handshakes a provider has: one file for each kind. They are pure; the host does what they ask for. */

import type { VerifyPolicy } from '../../config/configuration.ts'
import type { Handshakes } from '../provider.ts'
import type { HandshakeKind, ProviderRow } from '../scheme.ts'
import { createSnsHandshake } from './aws-sns.ts'
import { createCloudEventsHandshake } from './cloudevents.ts'
import { createDiscordHandshake } from './discord.ts'
import { createIntercomHandshake } from './intercom.ts'
import { createMetaHandshake } from './meta.ts'
import { createMicrosoftGraphHandshake } from './microsoft-graph.ts'
import { createMondayHandshake } from './monday.ts'
import { createNotionHandshake } from './notion.ts'
import { createSlackHandshake } from './slack.ts'
import { createZoomHandshake } from './zoom.ts'

const kinds: Readonly<Record<HandshakeKind, (policy: VerifyPolicy) => Handshakes | undefined>> = {
  slack: createSlackHandshake,
  zoom: createZoomHandshake,
  meta: createMetaHandshake,
  discord: createDiscordHandshake,
  'aws-sns': createSnsHandshake,
  intercom: createIntercomHandshake,
  monday: createMondayHandshake,
  notion: createNotionHandshake,
  'microsoft-graph': createMicrosoftGraphHandshake,
  cloudevents: createCloudEventsHandshake,
}

/** Undefined where the provider has none, or the policy lacks what it is answered with. */
export function createHandshakes(
  { handshake }: Pick<ProviderRow, 'handshake'>,
  policy: VerifyPolicy,
): Handshakes | undefined {
  return handshake && kinds[handshake](policy)
}
