/** Owns the subscription: that it is there, reads the topic, and is pulled or posts as is asked for. */

import type { ConnectCall } from '@reveille/kit'
import type { PubSub, Push, Subscription } from '../google/port.ts'
import { advised, setupError } from './failure.ts'
import type { Names } from './names.ts'
import { settlePush } from './push.ts'
import { adviceOn } from './topic.ts'
import type { Wanted } from './wanted.ts'

/** Seconds. A batch of mails is fetched and posted within it, or asks for more time. */
const ackDeadline = 60

/** What Google posts with, in mode `push`. @throws PluginError `other-topic` */
export async function ensureSubscription(
  call: ConnectCall,
  pubsub: PubSub,
  { topic, subscription: name }: Names,
  mode: 'pull' | 'push',
  wanted: Wanted,
): Promise<Required<Push> | undefined> {
  const advice = adviceOn(name)
  const before = await advised(() => pubsub.subscription(name, call.signal), advice)
  if (before !== undefined && before.topic !== topic) throw ofOtherTopic(before)
  const push = mode === 'push' ? settlePush(wanted, before?.push) : undefined
  const how = push === undefined ? 'is pulled' : `posts to ${push.endpoint}`

  if (before === undefined) {
    await advised(
      () => pubsub.createSubscription({ name, topic, ackDeadline, ...(push && { push }) }, call.signal),
      push === undefined ? advice : { ...advice, forbidden: actAsAdvice(push) },
    )
    call.told({
      step: 'subscription',
      outcome: 'done',
      detail: `The subscription ${name} was made and ${how}.`,
    })
  } else if (!isSamePush(before.push, push)) {
    await advised(
      () => pubsub.changePush(name, push, call.signal),
      push === undefined ? advice : { ...advice, forbidden: actAsAdvice(push) },
    )
    call.told({ step: 'subscription', outcome: 'done', detail: `The subscription ${name} ${how} now.` })
  } else {
    call.told({ step: 'subscription', outcome: 'unchanged', detail: `The subscription ${name} ${how}.` })
  }
  return push
}

function isSamePush(left: Push | undefined, right: Push | undefined): boolean {
  return (
    left?.endpoint === right?.endpoint &&
    left?.serviceAccount === right?.serviceAccount &&
    (left?.audience ?? left?.endpoint) === right?.audience
  )
}

/** What Pub/Sub says of a topic that was deleted. https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions */
const deletedTopic = '_deleted-topic_'

function ofOtherTopic({ name, topic }: Subscription) {
  const reason =
    topic === deletedTopic
      ? `The topic of the subscription ${name} was deleted, and it cannot be given another.`
      : `The subscription ${name} is one of another topic, ${topic}.`
  return setupError('other-topic', `${reason} Pass another name with --subscription, or delete it first.`)
}

function actAsAdvice({ serviceAccount }: Required<Push>): string {
  return `The account that consented needs the role Pub/Sub Admin in the project, and Service Account User on ${serviceAccount}.`
}
