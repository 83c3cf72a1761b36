/** The rows of providers of shops, payments, documents, forms and calendars. */

import { base64Sha256, hexSha256, hexSha256OfBody, type ProviderRow } from './scheme.ts'

export const business: readonly ProviderRow[] = [
  {
    name: 'stripe',
    title: 'Stripe',
    doc: 'https://docs.stripe.com/webhooks/signature',
    schemes: [
      {
        ...hexSha256,
        // The whole text is the key, `whsec_` included; it is not base64 here.
        signature: { headers: ['stripe-signature'], element: 'v1' },
        signed: '{timestamp}.{body}',
        timestamp: { from: { element: 't' }, unit: 's', tolerance: 300 },
      },
    ],
    deliveryId: [{ body: ['id'] }],
    retryHorizon: '3d',
  },
  {
    name: 'paddle',
    title: 'Paddle Billing',
    doc: 'https://developer.paddle.com/webhooks/signature-verification',
    schemes: [
      {
        ...hexSha256,
        signature: { headers: ['paddle-signature'], element: 'h1', divider: ';' },
        signed: '{timestamp}:{body}',
        timestamp: { from: { element: 'ts' }, unit: 's', tolerance: 5 },
      },
    ],
    deliveryId: [{ body: ['event_id'] }],
    retryHorizon: '3d',
  },
  {
    name: 'square',
    title: 'Square',
    doc: 'https://developer.squareup.com/docs/webhooks/step3validate',
    schemes: [
      {
        ...base64Sha256,
        signature: { headers: ['x-square-hmacsha256-signature'] },
        signed: '{url}{body}',
        weaker: ['x-square-signature'],
      },
    ],
    deliveryId: [{ body: ['event_id'] }],
    retryHorizon: '24h',
  },
  {
    name: 'shopify',
    title: 'Shopify',
    doc: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    schemes: [
      {
        ...base64Sha256,
        signature: { headers: ['x-shopify-hmac-sha256', 'shopify-hmac-sha256'] },
        signed: '{body}',
      },
    ],
    deliveryId: [{ headers: ['x-shopify-webhook-id'] }, { headers: ['shopify-webhook-id'] }],
    retryHorizon: '48h',
  },
  {
    name: 'hubspot',
    title: 'HubSpot (v3)',
    doc: 'https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation',
    schemes: [
      {
        name: 'v3',
        ...base64Sha256,
        signature: { headers: ['x-hubspot-signature-v3'] },
        signed: '{method}{url}{body}{timestamp}',
        timestamp: { from: { header: ['x-hubspot-request-timestamp'] }, unit: 'ms', tolerance: 300 },
        url: 'hubspot',
        // Versions 1 and 2 are a plain digest of secret and text, without a time.
        weaker: ['x-hubspot-signature'],
      },
    ],
    // The first field alone is not promised to be unique.
    deliveryId: [{ body: ['[].eventId', '[].subscriptionId', '[].objectId', '[].occurredAt'] }],
    retryHorizon: '24h',
  },
  {
    name: 'intercom',
    title: 'Intercom',
    doc: 'https://developers.intercom.com/docs/webhooks',
    schemes: [
      {
        family: 'hmac',
        hash: 'sha1',
        encoding: 'hex',
        key: 'text',
        signature: { headers: ['x-hub-signature'], prefix: 'sha1=' },
        signed: '{body}',
      },
    ],
    deliveryId: [{ body: ['id'] }],
    retryHorizon: '1h',
    handshake: 'intercom',
  },
  {
    name: 'docusign',
    title: 'DocuSign Connect',
    doc: 'https://developers.docusign.com/platform/webhooks/connect/validate/',
    schemes: [
      {
        ...base64Sha256,
        // The text looks like base64, but is itself the key.
        signature: { headers: ['x-docusign-signature-*'] },
        signed: '{body}',
      },
    ],
    deliveryId: [{ body: ['event', 'data.envelopeId', 'generatedDateTime'] }],
    retryHorizon: '15d',
  },
  {
    name: 'typeform',
    title: 'Typeform',
    doc: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
    schemes: [
      {
        ...base64Sha256,
        signature: { headers: ['typeform-signature'], prefix: 'sha256=' },
        signed: '{body}',
      },
    ],
    deliveryId: [{ body: ['event_id'] }],
    retryHorizon: '10h',
  },
  {
    name: 'calendly',
    title: 'Calendly',
    doc: 'https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures',
    schemes: [
      {
        ...hexSha256,
        signature: { headers: ['calendly-webhook-signature'], element: 'v1' },
        signed: '{timestamp}.{body}',
        timestamp: { from: { element: 't' }, unit: 's', tolerance: 180 },
      },
    ],
    deliveryId: [{ body: ['event', 'payload.uri', 'created_at'] }],
    retryHorizon: '24h',
  },
  {
    name: 'monday',
    title: 'monday.com',
    doc: 'https://developer.monday.com/api-reference/reference/webhooks',
    schemes: [],
    deliveryId: [{ body: ['event.triggerUuid'] }],
    retryHorizon: '30m',
    handshake: 'monday',
  },
  {
    name: 'notion',
    title: 'Notion',
    doc: 'https://developers.notion.com/reference/webhooks',
    schemes: [
      {
        ...hexSha256OfBody,
        // The key is the verification token of the handshake.
        signature: { headers: ['x-notion-signature'], prefix: 'sha256=' },
      },
    ],
    deliveryId: [{ body: ['id'] }],
    retryHorizon: '24h',
    handshake: 'notion',
  },
]
