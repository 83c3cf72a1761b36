/** The rows of providers of messages, calls and meetings. */

import { hexSha256, hexSha256OfBody, type ProviderRow } from './scheme.ts'

export const messages: readonly ProviderRow[] = [
  {
    name: 'slack',
    title: 'Slack',
    doc: 'https://docs.slack.dev/authentication/verifying-requests-from-slack/',
    schemes: [
      {
        ...hexSha256,
        signature: { headers: ['x-slack-signature'], prefix: 'v0=' },
        signed: 'v0:{timestamp}:{body}',
        timestamp: { from: { header: ['x-slack-request-timestamp'] }, unit: 's', tolerance: 300 },
      },
    ],
    // Commands and buttons have only the second id.
    deliveryId: [{ body: ['event_id'] }, { body: ['trigger_id'] }],
    retryHorizon: '10m',
    handshake: 'slack',
  },
  {
    name: 'discord',
    title: 'Discord (interactions and webhook events)',
    doc: 'https://docs.discord.com/developers/interactions/overview',
    schemes: [
      {
        family: 'ed25519',
        encoding: 'hex',
        key: 'hex',
        signature: { headers: ['x-signature-ed25519'] },
        signed: '{timestamp}{body}',
        // No tolerance is documented. An interaction expires after fifteen minutes, and an event is repeated for ten.
        timestamp: { from: { header: ['x-signature-timestamp'] }, unit: 's', tolerance: 900 },
      },
    ],
    // Webhook events have no id.
    deliveryId: [{ body: ['id'] }, { digest: 'body' }],
    retryHorizon: '10m',
    handshake: 'discord',
  },
  {
    name: 'telegram',
    title: 'Telegram',
    doc: 'https://core.telegram.org/bots/api#setwebhook',
    schemes: [{ family: 'token', header: 'x-telegram-bot-api-secret-token' }],
    deliveryId: [{ body: ['update_id'] }],
    retryHorizon: '24h',
    tokenHeaders: ['x-telegram-bot-api-secret-token'],
  },
  {
    name: 'meta',
    title: 'Meta (WhatsApp, Messenger, Instagram, Graph)',
    doc: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    schemes: [
      {
        ...hexSha256OfBody,
        signature: { headers: ['x-hub-signature-256'], prefix: 'sha256=' },
        weaker: ['x-hub-signature'],
      },
    ],
    // A request without messages (a status, a page's feed) has no id of its own.
    deliveryId: [{ body: ['entry[].changes[].value.messages[].id'] }, { digest: 'body' }],
    retryHorizon: '7d',
    handshake: 'meta',
  },
  {
    name: 'twilio',
    title: 'Twilio',
    doc: 'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
    schemes: [
      {
        family: 'hmac',
        hash: 'sha1',
        encoding: 'base64',
        key: 'text',
        signature: { headers: ['x-twilio-signature'] },
        signed: '{url}{form}',
        url: 'twilio',
        bodyHash: 'bodySHA256',
      },
    ],
    deliveryId: [
      { headers: ['i-twilio-idempotency-token'] },
      { body: ['MessageSid', 'MessageStatus'] },
      { body: ['MessageSid', 'SmsStatus'] },
      { body: ['MessageSid'] },
      { body: ['CallSid', 'CallStatus'] },
    ],
    retryHorizon: '1h',
  },
  {
    name: 'sendgrid',
    title: 'Twilio SendGrid (event webhook)',
    doc: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
    schemes: [
      {
        family: 'ecdsa',
        signature: { headers: ['x-twilio-email-event-webhook-signature'] },
        signed: '{timestamp}{body}',
        timestamp: { from: { header: ['x-twilio-email-event-webhook-timestamp'] }, unit: 's' },
      },
    ],
    deliveryId: [{ body: ['[].sg_event_id'] }],
    retryHorizon: '24h',
  },
  {
    name: 'mailgun',
    title: 'Mailgun',
    doc: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
    schemes: [
      {
        ...hexSha256,
        // Events are JSON; the fields are those of inbound routes.
        signature: { body: ['signature', 'signature'], field: 'signature' },
        // The event itself is not signed.
        signed: '{timestamp}{id}',
        timestamp: {
          from: { body: ['signature', 'timestamp'], field: 'timestamp' },
          unit: 's',
          tolerance: 300,
        },
        id: { body: ['signature', 'token'], field: 'token' },
      },
    ],
    deliveryId: [{ body: ['event-data.id'] }, { body: ['token'] }],
    retryHorizon: '8h',
  },
  {
    name: 'zoom',
    title: 'Zoom',
    doc: 'https://developers.zoom.us/docs/api/webhooks/',
    schemes: [
      {
        ...hexSha256,
        signature: { headers: ['x-zm-signature'], prefix: 'v0=' },
        signed: 'v0:{timestamp}:{body}',
        timestamp: { from: { header: ['x-zm-request-timestamp'] }, unit: 's', tolerance: 300 },
      },
    ],
    deliveryId: [
      { body: ['event', 'event_ts', 'payload.object.uuid'] },
      { body: ['event', 'event_ts', 'payload.object.id'] },
    ],
    retryHorizon: '1h',
    handshake: 'zoom',
  },
]
