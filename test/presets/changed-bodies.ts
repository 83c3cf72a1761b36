/** Lists the mapping that a changed real body must reach, for mappings that no recording reaches. */

/** Recorded bodies with other values at these JSON Pointers. */
export const changedBodies: readonly {
  readonly preset: string
  readonly body: string
  readonly changes: Readonly<Record<string, unknown>>
  readonly mapping: string
}[] = [
  {
    preset: 'github',
    body: 'github/pull_request.closed.json',
    changes: { '/pull_request/merged': true },
    mapping: 'github-pull-request-merged',
  },
  {
    preset: 'github',
    body: 'github/issue_comment.created.json',
    changes: { '/comment/body': 'What now, @reveille?' },
    mapping: 'github-mention',
  },
  {
    preset: 'github',
    body: 'github/workflow_run.completed.json',
    changes: {
      '/workflow_run/conclusion': 'failure',
      '/workflow_run/head_branch': 'main',
      '/repository/default_branch': 'main',
    },
    mapping: 'github-workflow-failed',
  },
  {
    preset: 'github',
    body: 'github/dependabot_alert.created.json',
    changes: { '/alert/security_advisory/severity': 'critical' },
    mapping: 'github-security-alert',
  },
  {
    preset: 'gitlab',
    body: 'gitlab/merge_request.json',
    changes: { '/object_attributes/action': 'merge' },
    mapping: 'gitlab-merge-request-merged',
  },
  {
    preset: 'gitlab',
    body: 'gitlab/issue.json',
    changes: { '/object_attributes/action': 'open' },
    mapping: 'gitlab-issue-opened',
  },
  {
    preset: 'gitlab',
    body: 'gitlab/pipeline.json',
    changes: {
      '/object_attributes/status': 'failed',
      '/object_attributes/source': 'push',
      '/builds/1/status': 'failed',
    },
    mapping: 'gitlab-pipeline-failed',
  },
  {
    preset: 'bitbucket',
    body: 'bitbucket/pullrequest.comment_created.json',
    changes: { '/comment/content/raw': '@reveille, what change?' },
    mapping: 'bitbucket-mention',
  },
  {
    preset: 'bitbucket',
    body: 'bitbucket/repo.commit_status_created.json',
    changes: { '/commit_status/state': 'FAILED', '/commit_status/refname': 'main' },
    mapping: 'bitbucket-build-failed',
  },
  {
    preset: 'stripe',
    body: 'stripe/invoice.paid.json',
    changes: { '/type': 'invoice.payment_failed', '/data/object/amount_due': 1250 },
    mapping: 'stripe-invoice-payment-failed',
  },
  {
    preset: 'stripe',
    body: 'stripe/invoice.paid.json',
    changes: { '/data/object/amount_paid': 1250 },
    mapping: 'stripe-paid',
  },
  {
    preset: 'stripe',
    body: 'stripe/checkout.session.completed.json',
    changes: { '/data/object/mode': 'payment' },
    mapping: 'stripe-paid',
  },
  {
    preset: 'shopify',
    body: 'shopify/orders.create.json',
    changes: { '/note': 'Please do not ring' },
    mapping: 'shopify-order-note',
  },
  {
    preset: 'shopify',
    body: 'shopify/inventory_levels.update.json',
    changes: { '/available': 0 },
    mapping: 'shopify-sold-out',
  },
  {
    preset: 'linear',
    body: 'linear/comment.create.json',
    changes: { '/data/body': 'And now, @reveille?' },
    mapping: 'linear-mention',
  },
  {
    preset: 'linear',
    body: 'linear/issue.create.json',
    changes: { '/action': 'update', '/data/priority': 1, '/updatedFrom': { priority: 3 } },
    mapping: 'linear-issue-urgent',
  },
  {
    preset: 'jira',
    body: 'jira/comment_created.json',
    changes: { '/comment/body': 'And now, @reveille?' },
    mapping: 'jira-mention',
  },
  {
    preset: 'jira',
    body: 'jira/issue_updated.resolved.json',
    changes: {
      '/changelog/items/0': { field: 'priority', fieldId: 'priority', to: '1', toString: 'Highest' },
    },
    mapping: 'jira-issue-critical',
  },
  {
    preset: 'sentry',
    body: 'sentry/metric_alert.critical.json',
    changes: { '/action': 'resolved' },
    mapping: 'sentry-recovered',
  },
]
