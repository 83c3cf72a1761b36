/** Owns the topic to which Gmail sends notifications, and its leave to do so. */

import type { ConnectCall } from '@reveille/kit'
import type { PubSub } from '../google/port.ts'
import { type Advice, ask } from './asking.ts'

/** https://developers.google.com/workspace/gmail/api/guides/push#grant_publish_rights_on_your_topic */
const role = 'roles/pubsub.publisher'
const gmailItself = 'gmail-api-push@system.gserviceaccount.com'

/** Whether it was made now. */
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

/** Whether it was granted now. */
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

/** For what is refused in the project of a topic or subscription. */
export function adviceOn(name: string): Advice {
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
