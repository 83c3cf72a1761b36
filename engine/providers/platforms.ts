/** The rows of specifications, of providers that implement one, and of clouds. */

import { type HmacScheme, hexSha256, type ProviderRow } from './scheme.ts'

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export const standardWebhooks: HmacScheme = {
  family: 'hmac',
  hash: 'sha256',
  encoding: 'base64',
  key: 'whsec',
  signature: { headers: ['webhook-signature'], prefix: 'v1,', divider: ' ' },
  signed: '{id}.{timestamp}.{body}',
  timestamp: { from: { header: ['webhook-timestamp'] }, unit: 's', tolerance: 300 },
  id: ['webhook-id'],
}

/** Svix uses header names of its own; senders without its brand use those of the specification. */
const svix: HmacScheme = {
  ...standardWebhooks,
  signature: { headers: ['svix-signature', 'webhook-signature'], prefix: 'v1,', divider: ' ' },
  timestamp: { from: { header: ['svix-timestamp', 'webhook-timestamp'] }, unit: 's', tolerance: 300 },
  id: ['svix-id', 'webhook-id'],
}

export const platforms: readonly ProviderRow[] = [
  {
    name: 'standard-webhooks',
    title: 'Standard Webhooks',
    doc: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    schemes: [
      standardWebhooks,
      {
        name: 'asymmetric',
        family: 'ed25519',
        encoding: 'base64',
        key: 'whpk',
        signature: { headers: ['webhook-signature'], prefix: 'v1a,', divider: ' ' },
        signed: '{id}.{timestamp}.{body}',
        timestamp: { from: { header: ['webhook-timestamp'] }, unit: 's', tolerance: 300 },
        id: ['webhook-id'],
      },
    ],
    deliveryId: [{ headers: ['webhook-id'] }],
    retryHorizon: '5d',
  },
  {
    name: 'svix',
    title: 'Svix',
    doc: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    schemes: [svix],
    deliveryId: [{ headers: ['svix-id'] }, { headers: ['webhook-id'] }],
    retryHorizon: '28h',
  },
  {
    name: 'openai',
    title: 'OpenAI',
    doc: 'https://developers.openai.com/api/docs/guides/webhooks',
    schemes: [standardWebhooks],
    deliveryId: [{ headers: ['webhook-id'] }],
    retryHorizon: '3d',
  },
  {
    name: 'resend',
    title: 'Resend',
    doc: 'https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests',
    schemes: [svix],
    deliveryId: [{ headers: ['svix-id'] }, { headers: ['webhook-id'] }],
    retryHorizon: '28h',
  },
  {
    name: 'elevenlabs',
    title: 'ElevenLabs',
    doc: 'https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks',
    schemes: [
      {
        ...hexSha256,
        signature: { headers: ['elevenlabs-signature'], element: 'v0' },
        signed: '{timestamp}.{body}',
        timestamp: { from: { element: 't' }, unit: 's', tolerance: 1800 },
      },
    ],
    deliveryId: [{ body: ['type', 'event_timestamp', 'data.conversation_id'] }],
    retryHorizon: '24h',
  },
  {
    name: 'google-pubsub',
    title: 'Google Pub/Sub push (OIDC), also Eventarc, Cloud Tasks, Gmail push',
    doc: 'https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions',
    schemes: [
      {
        family: 'oidc',
        keys: 'https://www.googleapis.com/oauth2/v3/certs',
        issuers: ['https://accounts.google.com', 'accounts.google.com'],
      },
    ],
    // A message without its envelope has the same values in headers.
    deliveryId: [
      { body: ['message.messageId', 'subscription'] },
      { headers: ['x-goog-pubsub-message-id', 'x-goog-pubsub-subscription-name'] },
    ],
    retryHorizon: '7d',
    tokenHeaders: ['authorization'],
  },
  {
    name: 'aws-sns',
    title: 'AWS SNS over HTTPS',
    doc: 'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
    schemes: [{ family: 'sns' }],
    deliveryId: [{ body: ['MessageId'] }],
    retryHorizon: '1h',
    handshake: 'aws-sns',
  },
  {
    name: 'microsoft-graph',
    title: 'Microsoft Graph',
    doc: 'https://learn.microsoft.com/graph/change-notifications-delivery-webhooks',
    schemes: [],
    deliveryId: [{ body: ['value[].id'] }],
    retryHorizon: '4h',
    handshake: 'microsoft-graph',
  },
  {
    name: 'cloudevents',
    title: 'CloudEvents (HTTP webhooks)',
    doc: 'https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md',
    schemes: [],
    // The two values together name an event; they are in headers or in an envelope.
    deliveryId: [{ headers: ['ce-source', 'ce-id'] }, { body: ['source', 'id'] }],
    retryHorizon: '24h',
    handshake: 'cloudevents',
  },
]
