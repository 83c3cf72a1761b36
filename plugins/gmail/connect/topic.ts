/** Owns the topic to which Gmail sends notifications, and its leave to do so. */

import type { ConnectCall } from '@reveille/kit'
import type { PubSub } from '../google/port.ts'
import { advised } from './failure.ts'

/** https://developers.google.com/workspace/gmail/api/guides/push#grant_publish_rights_on_your_topic */
const publisher = {
  role: 'roles/pubsub.publisher',
  member: 'serviceAccount:gmail-api-push@system.gserviceaccount.com',
}

/** Whether it was made now. */
export async function ensureTopic(call: ConnectCall, pubsub: PubSub, topic: string): Promise<boolean> {
  const isMade = await advised(async () => {
    if ((await pubsub.topic(topic, call.signal)) !== undefined) return false
    await pubsub.createTopic(topic, call.signal)
    return true
  }, adviceOn(topic))
  call.told({
    step: 'topic',
    outcome: isMade ? 'done' : 'unchanged',
    detail: `The topic ${topic} ${isMade ? 'was made' : 'is there'}.`,
  })
  return isMade
}

/** Whether it was granted now. */
export async function ensurePublisher(call: ConnectCall, pubsub: PubSub, topic: string): Promise<boolean> {
  const isGranted = await advised(
    async () => (await pubsub.grant(topic, publisher.role, publisher.member, call.signal)) === 'granted',
    { ...adviceOn(topic), 'policy-forbids': sharingAdvice(topic) },
  )
  call.told({
    step: 'publisher',
    outcome: isGranted ? 'done' : 'unchanged',
    detail: `Gmail ${isGranted ? 'may now' : 'may'} publish to the topic.`,
  })
  return isGranted
}

/** For what is refused in the project of a topic or subscription. */
export function adviceOn(name: string): Readonly<Record<string, string>> {
  const project = name.split('/')[1]
  return {
    forbidden: `The account that consented needs the role Pub/Sub Admin in the project ${project}: https://console.cloud.google.com/iam-admin/iam?project=${project}`,
    'not-found': `Is there a project ${project}, and is it the right one? --project says which.`,
  }
}

/** https://cloud.google.com/resource-manager/docs/organization-policy/restricting-domains */
function sharingAdvice(topic: string): string {
  return `The organisation's policy iam.allowedPolicyMemberDomains allows no members from outside, and Gmail's ${publisher.member.split(':')[1]} is one. Let an administrator override it for the project ${topic.split('/')[1]}, or run the setup once while it is off: https://cloud.google.com/resource-manager/docs/organization-policy/restricting-domains`
}
