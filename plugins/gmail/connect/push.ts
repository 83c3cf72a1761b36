/** Owns where Google posts notifications in mode `push`, and as whom. */

import type { Push } from '../google/port.ts'
import { setupError } from './failure.ts'
import type { Wanted } from './wanted.ts'

/**
 * What can be known before anybody consents. A mailbox whose configuration says `push` has a subscription that may tell the
 * rest. @throws PluginError `bad-option`, `push-endpoint-missing`, `push-account-missing`
 */
export function checkPush(wanted: Wanted, mode: 'pull' | 'push', before: 'pull' | 'push' | undefined): void {
  const { pushEndpoint, pushServiceAccount } = wanted
  if (mode === 'push') {
    if (pushEndpoint !== undefined) addressOf(pushEndpoint)
    if (before !== 'push') settlePush(wanted, undefined)
    return
  }
  if (pushEndpoint !== undefined || pushServiceAccount !== undefined)
    throw setupError('bad-option', '--push-endpoint and --push-service-account are for --mode push.')
}

/** What is not asked for stays as it is. @throws PluginError `push-endpoint-missing`, `push-account-missing` */
export function settlePush(wanted: Wanted, before: Push | undefined): Required<Push> {
  const endpoint = wanted.pushEndpoint === undefined ? before?.endpoint : addressOf(wanted.pushEndpoint)
  if (endpoint === undefined)
    throw setupError(
      'push-endpoint-missing',
      'Mode push needs the public address of the gateway: --push-endpoint https://<your host>/hooks/gmail/push. Mode pull needs none.',
    )
  const serviceAccount = wanted.pushServiceAccount ?? before?.serviceAccount
  if (serviceAccount === undefined)
    throw setupError(
      'push-account-missing',
      // https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
      'Mode push needs a service account, whose tokens Google sends so that the gateway knows it. Create one without roles at https://console.cloud.google.com/iam-admin/serviceaccounts and pass its address with --push-service-account. You need the role Service Account User on it; in projects from before April 2021 the agent service-<project number>@gcp-sa-pubsub.iam.gserviceaccount.com needs Service Account Token Creator.',
    )
  return { endpoint, serviceAccount, audience: endpoint }
}

/** Plain HTTP is for tests on loopback. */
function addressOf(text: string): string {
  const url = URL.parse(text.trim())
  const isSafe =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname))
  if (url !== null && isSafe && !url.username && !url.password && !url.hash && url.pathname !== '/')
    return url.href
  throw setupError(
    'bad-option',
    '--push-endpoint must be the whole public address at which the gateway takes notifications, as https://hooks.example.com/hooks/gmail/push.',
  )
}
