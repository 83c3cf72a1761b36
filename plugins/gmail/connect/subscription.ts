/** Owns the subscription: that it is there, reads the topic, and is pulled or posts as is asked for. */

import type { ConnectCall } from '@reveille/kit'
import type { PubSub, Push, Subscription } from '../google/port.ts'
import { type Advice, ask } from './asking.ts'
import { hasCode, setupError } from './failure.ts'
import type { Names } from './names.ts'
import { settlePush } from './push.ts'
import { adviceOn } from './topic.ts'
import type { Wanted } from './wanted.ts'

/** Seconds. A batch of mails is fetched and posted within it, or asks for more time. */
const ackDeadline = 60

export interface SubscriptionPlan {
  readonly names: Names
  readonly mode: 'pull' | 'push'
  readonly wanted: Wanted
}

/** What Google posts with, in mode `push`. @throws PluginError `other-topic` */
export async function ensureSubscription(
  call: ConnectCall,
  pubsub: PubSub,
  plan: SubscriptionPlan,
): Promise<Required<Push> | undefined> {
  const { topic, subscription: name } = plan.names
  const look = () => ask(call, () => pubsub.subscription(name, call.signal), adviceOn(name))
  const found = await look()
  const push = plan.mode === 'push' ? settlePush(plan.wanted, found?.push) : undefined
  const advice = adviceFor(name, push)
  const how = push === undefined ? 'is pulled' : `posts to ${push.endpoint}`

  const isMade = found === undefined && (await make())
  const there = isMade ? undefined : (found ?? (await look()))
  if (there !== undefined && there.topic !== topic) throw ofOtherTopic(there)
  const isChanged = there !== undefined && !isSamePush(there.push, push)
  if (isChanged) await ask(call, () => pubsub.changePush(name, push, call.signal), advice)
  call.report({
    step: 'subscription',
    outcome: isMade || isChanged ? 'done' : 'unchanged',
    detail: `The subscription ${name} ${isMade ? `was made and ${how}` : isChanged ? `${how} now` : how}.`,
  })
  return push

  /** False where somebody was faster, or the first of two tries succeeded without an answer. */
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
    // Without one, Google takes the address.
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
