/** The rows of providers that host, build and monitor code, and track its issues. */

import { standardWebhooks } from './platforms.ts'
import { hexSha256OfBody, type ProviderRow } from './scheme.ts'

export const code: readonly ProviderRow[] = [
  {
    name: 'github',
    title: 'GitHub',
    doc: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    schemes: [
      {
        ...hexSha256OfBody,
        signature: { headers: ['x-hub-signature-256'], prefix: 'sha256=' },
        weaker: ['x-hub-signature'],
      },
    ],
    deliveryId: [{ headers: ['x-github-delivery'] }],
    retryHorizon: '3d',
  },
  {
    name: 'gitlab',
    title: 'GitLab',
    doc: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    schemes: [
      {
        ...standardWebhooks,
        name: 'signing-token',
        secrets: 'whsec',
        weaker: ['x-gitlab-token'],
      },
      { name: 'token', family: 'token', secrets: 'other', header: 'x-gitlab-token' },
    ],
    // The first header is signed where any is, and has the same value as the second.
    deliveryId: [{ headers: ['webhook-id'] }, { headers: ['idempotency-key'] }],
    retryHorizon: '24h',
    tokenHeaders: ['x-gitlab-token'],
  },
  {
    name: 'bitbucket',
    title: 'Bitbucket Cloud',
    doc: 'https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/',
    schemes: [{ ...hexSha256OfBody, signature: { headers: ['x-hub-signature'], prefix: 'sha256=' } }],
    deliveryId: [{ headers: ['x-request-uuid'] }],
    retryHorizon: '1h',
  },
  {
    name: 'jira',
    title: 'Jira Cloud',
    doc: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
    schemes: [{ ...hexSha256OfBody, signature: { headers: ['x-hub-signature'], prefix: 'sha256=' } }],
    deliveryId: [{ headers: ['x-atlassian-webhook-identifier'] }],
    retryHorizon: '24h',
  },
  {
    name: 'linear',
    title: 'Linear',
    doc: 'https://linear.app/developers/webhooks',
    schemes: [
      {
        ...hexSha256OfBody,
        signature: { headers: ['linear-signature'] },
        // The header `Linear-Timestamp` is not signed; this field is signed with the rest of the body.
        timestamp: { from: { body: ['webhookTimestamp'] }, unit: 'ms', tolerance: 60 },
      },
    ],
    deliveryId: [{ headers: ['linear-delivery'] }],
    retryHorizon: '8h',
  },
  {
    name: 'sentry',
    title: 'Sentry (integration platform)',
    doc: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks/',
    schemes: [
      {
        ...hexSha256OfBody,
        // Requests of UI components have `Sentry-App-Signature` instead, which needs `provider: hmac`.
        signature: { headers: ['sentry-hook-signature'] },
      },
    ],
    deliveryId: [{ headers: ['request-id'] }],
    retryHorizon: 'none',
  },
  {
    name: 'pagerduty',
    title: 'PagerDuty (v3)',
    doc: 'https://docs.pagerduty.com/developer/verifying-webhook-signatures',
    schemes: [
      { ...hexSha256OfBody, signature: { headers: ['x-pagerduty-signature'], prefix: 'v1=', divider: ',' } },
    ],
    deliveryId: [{ headers: ['x-webhook-id'] }, { body: ['event.id'] }],
    retryHorizon: '48h',
  },
  {
    name: 'vercel',
    title: 'Vercel',
    doc: 'https://vercel.com/docs/webhooks/webhooks-api',
    schemes: [
      {
        family: 'hmac',
        hash: 'sha1',
        encoding: 'hex',
        key: 'text',
        signature: { headers: ['x-vercel-signature'] },
        signed: '{body}',
      },
    ],
    deliveryId: [{ body: ['id'] }],
    retryHorizon: '24h',
  },
  {
    name: 'grafana',
    title: 'Grafana Alerting (12 and later)',
    doc: 'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
    schemes: [
      {
        ...hexSha256OfBody,
        // A contact point with a header for the time signs `{timestamp}:{body}`, which needs `provider: hmac`.
        signature: { headers: ['x-grafana-alerting-signature'] },
      },
    ],
    retryHorizon: 'none',
  },
]
