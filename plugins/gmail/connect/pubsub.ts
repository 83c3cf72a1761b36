/** Makes the topic to which Gmail publishes and the subscription that reads it, and changes what differs in them. */

import { type ConnectCall, permanentError } from '@reveille/kit'
import type { PubSub, Push, Subscription } from '../google/port.ts'
import { type Advice, ask } from './asking.ts'
import { hasCode } from './failure.ts'
import type { Names, SetupOptions } from './setup-options.ts'

/** https://developers.google.com/workspace/gmail/api/guides/push#grant_publish_rights_on_your_topic */
const role = 'roles/pubsub.publisher'
const gmailItself = 'gmail-api-push@system.gserviceaccount.com'

/** Makes the topic if it is missing. Returns whether it was made. */
export async function ensureTopic(call: ConnectCall, pubsub: PubSub, topic: string): Promise<boolean> {
  const advice = adviceOn(topic)
  const isThere = (await ask(call, () => pubsub.topic(topic, call.signal), advice)) !== undefined
  if (!isThere) await ask(call, () => pubsub.createTopic(topic, call.signal), advice)
  call.report({
    step: 'topic',
    outcome: isThere ? 'unchanged' : 'done',
    detail: `The topic ${topic} ${isThere ? 'is there' : 'was made'}.`,
  })
  return !isThere
}

/** Grants Gmail the right to publish if it is missing. Returns whether it was granted. */
export async function ensurePublisher(call: ConnectCall, pubsub: PubSub, topic: string): Promise<boolean> {
  const grant = () => pubsub.grant(topic, role, `serviceAccount:${gmailItself}`, call.signal)
  const isGranted = (await ask(call, grant, grantAdvice(topic))) === 'granted'
  call.report({
    step: 'publisher',
    outcome: isGranted ? 'done' : 'unchanged',
    detail: `Gmail ${isGranted ? 'may now' : 'may'} publish to the topic.`,
  })
  return isGranted
}

/** Says what to do about a refusal in the project of a topic or subscription. */
function adviceOn(name: string): Advice {
  const project = name.split('/')[1]
  return {
    forbidden: `The account that consented needs the role Pub/Sub Admin in the project ${project}: https://console.cloud.google.com/iam-admin/iam?project=${project}`,
    'not-found': `Is there a project ${project}, and is it the right one? --project says which.`,
  }
}

function grantAdvice(topic: string): Advice {
  return {
    ...adviceOn(topic),
    'policy-forbids': `The organisation's policy iam.allowedPolicyMemberDomains keeps ${gmailItself}, which is Gmail, out: let an administrator override it for the project. https://cloud.google.com/resource-manager/docs/organization-policy/restricting-domains`,
  }
}

/** In seconds. A batch of mails is fetched and posted within this time, or more time is asked for. */
const ackDeadline = 60

export interface SubscriptionPlan {
  readonly names: Names
  readonly mode: 'pull' | 'push'
  readonly options: SetupOptions
}

/**
 * Makes or changes the subscription. Returns what Google posts with in mode `push`. @throws PluginError `other-topic`
 */
export async function ensureSubscription(
  call: ConnectCall,
  pubsub: PubSub,
  plan: SubscriptionPlan,
): Promise<Required<Push> | undefined> {
  const { topic, subscription: name } = plan.names
  const look = () => ask(call, () => pubsub.subscription(name, call.signal), adviceOn(name))
  const found = await look()
  const push = plan.mode === 'push' ? settlePush(plan.options, found?.push) : undefined
  const advice = adviceFor(name, push)
  const how = push === undefined ? 'is pulled' : `posts to ${push.endpoint}`

  const isNew = found === undefined && (await make())
  const there = isNew ? undefined : (found ?? (await look()))
  if (there !== undefined && there.topic !== topic) throw otherTopicError(there)
  const isChanged = there !== undefined && !isSamePush(there.push, push)
  if (isChanged) await ask(call, () => pubsub.changePush(name, push, call.signal), advice)
  call.report({
    step: 'subscription',
    outcome: isNew || isChanged ? 'done' : 'unchanged',
    detail: `The subscription ${name} ${isNew ? `was made and ${how}` : isChanged ? `${how} now` : how}.`,
  })
  return push

  /**
   * Returns false if the subscription exists by now: another process made it, or our first try did, without an
   * answer.
   */
  async function make(): Promise<boolean> {
    const subscription = { name, topic, ackDeadline, ...(push && { push }) }
    try {
      await ask(call, () => pubsub.createSubscription(subscription, call.signal), advice)
      return true
    } catch (error) {
      if (hasCode(error, 'exists')) return false
      throw error
    }
  }
}

function isSamePush(left: Push | undefined, right: Push | undefined): boolean {
  return (
    left?.endpoint === right?.endpoint &&
    left?.serviceAccount === right?.serviceAccount &&
    // Without an audience, Google takes the address.
    (left?.audience ?? left?.endpoint) === right?.audience
  )
}

/** Pub/Sub's name for a deleted topic. https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions */
const deletedTopic = '_deleted-topic_'

function otherTopicError({ name, topic }: Subscription) {
  const reason =
    topic === deletedTopic
      ? `The topic of the subscription ${name} was deleted, and it cannot be given another.`
      : `The subscription ${name} is one of another topic, ${topic}.`
  return permanentError('other-topic', `${reason} Pass another name with --subscription, or delete it first.`)
}

function adviceFor(name: string, push: Required<Push> | undefined): Advice {
  const advice = adviceOn(name)
  if (push === undefined) return advice
  const { serviceAccount } = push
  return {
    ...advice,
    forbidden: `${advice['forbidden']} It needs Service Account User on ${serviceAccount} too.`,
    'not-found': `${advice['not-found']} Is there a service account ${serviceAccount}?`,
  }
}

/**
 * Checks what can be known before a person consents. If the configuration says `push` already, the subscription may
 * supply the rest. @throws PluginError `bad-option`, `push-endpoint-missing`, `push-account-missing`
 */
export function checkPush(
  options: SetupOptions,
  mode: 'pull' | 'push',
  before: 'pull' | 'push' | undefined,
): void {
  const { pushEndpoint, pushServiceAccount } = options
  if (mode === 'push') {
    if (pushEndpoint !== undefined) readPushAddress(pushEndpoint)
    if (before !== 'push') settlePush(options, undefined)
    return
  }
  if (pushEndpoint !== undefined || pushServiceAccount !== undefined)
    throw permanentError('bad-option', '--push-endpoint and --push-service-account are for --mode push.')
}

/**
 * Settles how Google posts; what is not asked for stays as it is. @throws PluginError `push-endpoint-missing`,
 * `push-account-missing`
 */
function settlePush(options: SetupOptions, before: Push | undefined): Required<Push> {
  const endpoint =
    options.pushEndpoint === undefined ? before?.endpoint : readPushAddress(options.pushEndpoint)
  if (endpoint === undefined)
    throw permanentError(
      'push-endpoint-missing',
      'Mode push needs the public address of the gateway: --push-endpoint https://<your host>/hooks/gmail/push. Mode pull needs none.',
    )
  const serviceAccount = options.pushServiceAccount ?? before?.serviceAccount
  if (serviceAccount === undefined)
    throw permanentError(
      'push-account-missing',
      // https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
      'Mode push needs a service account, whose tokens Google sends so that the gateway knows it. Create one without roles at https://console.cloud.google.com/iam-admin/serviceaccounts and pass its address with --push-service-account. You need the role Service Account User on it; in projects from before April 2021 the agent service-<project number>@gcp-sa-pubsub.iam.gserviceaccount.com needs Service Account Token Creator.',
    )
  return { endpoint, serviceAccount, audience: endpoint }
}

/** Plain HTTP is allowed on loopback, for tests. */
function readPushAddress(text: string): string {
  const url = URL.parse(text.trim())
  const isSafe =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname))
  if (url !== null && isSafe && !url.username && !url.password && !url.hash && url.pathname !== '/')
    return url.href
  throw permanentError(
    'bad-option',
    '--push-endpoint must be the whole public address at which the gateway takes notifications, as https://hooks.example.com/hooks/gmail/push.',
  )
}
