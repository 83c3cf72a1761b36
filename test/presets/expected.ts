/** Lists the mapping that each recorded body must reach. */

/**
 * Maps a preset, which is also the endpoint, to recorded bodies, and each to a mapping or `ignored`. Every recorded
 * body has a row.
 */
export const expectedMappings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  github: {
    'github/check_run.completed.json': 'ignored',
    // It has medium severity.
    'github/dependabot_alert.created.json': 'ignored',
    'github/discussion.created.json': 'ignored',
    'github/installation.created.json': 'ignored',
    // It mentions no one.
    'github/issue_comment.created.json': 'ignored',
    'github/issues.labeled.json': 'ignored',
    'github/issues.opened.json': 'github-issue-opened',
    'github/ping.recorded.json': 'ignored',
    // It was closed and not merged.
    'github/pull_request.closed.json': 'ignored',
    'github/pull_request.opened.json': 'github-pull-request-opened',
    'github/pull_request.opened.null-body.json': 'github-pull-request-opened',
    'github/pull_request_review.submitted.json': 'ignored',
    'github/push.recorded.json': 'ignored',
    'github/push.with-no-username-committer.json': 'ignored',
    'github/release.recorded.json': 'ignored',
    // It succeeded.
    'github/workflow_run.completed.json': 'ignored',
  },
  gitlab: {
    'gitlab/deployment.json': 'ignored',
    'gitlab/feature_flag.json': 'ignored',
    // Sent by GitLab's button "Test", which names no action.
    'gitlab/issue.json': 'ignored',
    'gitlab/merge_request.json': 'gitlab-merge-request-opened',
    // It mentions no one.
    'gitlab/note.json': 'ignored',
    // It succeeded.
    'gitlab/pipeline.json': 'ignored',
    'gitlab/push.json': 'ignored',
  },
  bitbucket: {
    // It mentions no one.
    'bitbucket/pullrequest.comment_created.json': 'ignored',
    'bitbucket/pullrequest.created.json': 'bitbucket-pull-request-created',
    // The build begins.
    'bitbucket/repo.commit_status_created.json': 'ignored',
    'bitbucket/repo.push.json': 'bitbucket-push',
  },
  stripe: {
    'stripe/charge.dispute.created.json': 'stripe-dispute-created',
    // It begins a subscription, and the invoice reports the payment.
    'stripe/checkout.session.completed.json': 'ignored',
    'stripe/customer.subscription.created.json': 'ignored',
    'stripe/customer.subscription.updated.json': 'stripe-subscription-cancelling',
    // It is for zero, during a trial.
    'stripe/invoice.paid.json': 'ignored',
    'stripe/payment_intent.payment_failed.json': 'stripe-payment-failed',
    'stripe/payout.paid.json': 'stripe-payout',
  },
  shopify: {
    'shopify/app.uninstalled.json': 'shopify-app-uninstalled',
    'shopify/customers.create.json': 'ignored',
    // The item is not counted.
    'shopify/inventory_levels.update.json': 'ignored',
    // It has no note.
    'shopify/orders.create.json': 'ignored',
    'shopify/orders.paid.json': 'shopify-order-paid',
    'shopify/products.update.json': 'ignored',
    'shopify/refunds.create.json': 'shopify-refund-created',
  },
  linear: {
    // It mentions no one.
    'linear/comment.create.json': 'ignored',
    'linear/issue.create.json': 'linear-issue-created',
    'linear/project.update.json': 'linear-project-status',
    'linear/reaction.create.json': 'ignored',
  },
  jira: {
    // It mentions no one.
    'jira/comment_created.json': 'ignored',
    'jira/issue_created.json': 'jira-issue-created',
    'jira/issue_created.many-fields.json': 'jira-issue-created',
    'jira/issue_updated.resolved.json': 'jira-issue-resolved',
  },
  sentry: {
    // It is one of many, and the issue reports them once.
    'sentry/error.created.json': 'ignored',
    'sentry/event_alert.triggered.json': 'sentry-issue-alert',
    'sentry/issue.created.json': 'sentry-issue',
    'sentry/metric_alert.critical.json': 'sentry-metric-alert',
  },
  gmail: {
    // It is a message as Google's API returns it, not one that was posted.
    'gmail/api.message.get.json': 'ignored',
    'gmail/gog-watch-hook.json': 'gmail-message',
    // The notification names no message.
    'gmail/pubsub-push.history-id-number.json': 'ignored',
    'gmail/pubsub-push.history-id-string.json': 'ignored',
  },
  pagerduty: {
    'pagerduty/incident.acknowledged.json': 'pagerduty-progress',
    'pagerduty/incident.annotated.json': 'pagerduty-note',
    'pagerduty/incident.priority_updated.json': 'pagerduty-progress',
    'pagerduty/incident.triggered.json': 'pagerduty-triggered',
  },
  grafana: {
    'grafana/alert.firing-and-resolved.json': 'grafana-firing',
  },
  alertmanager: {
    'alertmanager/firing.json': 'alertmanager-firing',
    'alertmanager/resolved.json': 'alertmanager-resolved',
  },
  slack: {
    'slack/app_mention.json': 'slack-mention',
    'slack/block_actions.form': 'slack-action',
    // People talk to each other in a channel.
    'slack/message.json': 'ignored',
    // The message was edited.
    'slack/message_changed.json': 'ignored',
    'slack/reaction_added.json': 'slack-reaction',
    'slack/slash-command.form': 'slack-command',
    'slack/url_verification.json': 'ignored',
  },
  discord: {
    'discord/interaction.application-command.json': 'discord-command',
    'discord/interaction.ping.json': 'ignored',
    'discord/webhook-event.ping.json': 'ignored',
  },
  twilio: {
    'twilio/call.status-callback.form': 'twilio-call-completed',
    'twilio/message.inbound-mms.form': 'twilio-message',
    'twilio/message.inbound.form': 'twilio-message',
  },
  calendly: {
    'calendly/invitee.canceled.json': 'calendly-canceled',
    'calendly/invitee.created.json': 'calendly-booked',
  },
  typeform: {
    'typeform/form_response.json': 'typeform-response',
    'typeform/form_response.third.json': 'typeform-response',
  },
  vercel: {
    'vercel/deployment.error.json': 'vercel-deployment-error',
  },
  generic: {
    'cloudevents/structured.json': 'generic-cloudevent',
    'standard-webhooks/full-event.json': 'generic-standard-webhook',
    'standard-webhooks/thin-event.json': 'generic-standard-webhook',
  },
}

/** Examples of GitHub's own package that reach a mapping. All others are ignored. */
export const expectedExamples: Readonly<Record<string, string>> = {
  'code_scanning_alert#2': 'github-security-alert',
  ...rows('issues', [15, 16, 17, 18, 20], 'github-issue-opened'),
  ...rows('pull_request', [0, 12, 13, 14, 15, 16, 17, 18, 19], 'github-pull-request-opened'),
}

function rows(event: string, examples: readonly number[], mapping: string): Record<string, string> {
  return Object.fromEntries(examples.map((example) => [`${event}#${example}`, mapping]))
}
