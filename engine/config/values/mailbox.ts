/**
 * Resolves `hooks.gmail`, as OpenClaw spells the source `gmail`. The keys about its preset are read here, and its plugin
 * checks all others. No other file of the engine names the source.
 */

type Values = Readonly<Record<string, unknown>>

/** The source, its preset and the endpoint that mails are posted to. */
export const mailbox = 'gmail'
export const mailboxPath = ['hooks', mailbox] as const
export const mailboxSetup = 'reveille webhooks gmail setup'

/** The key that configures a source. */
export function keyOfSource(name: string): string {
  return name === mailbox ? mailboxPath.join('.') : `sources.${name}`
}

/** The keys that are about the runs of the preset. */
const presetKeys = new Set(['model', 'thinking', 'allowUnsafeExternalContent'])

/** Keys of OpenClaw without effect, with the alternative. */
export const foreignMailboxKeys: Readonly<Record<string, string>> = {
  'hooks.gmail.hookUrl': 'Mails go to `/hooks/gmail` of this gateway automatically: remove it.',
  'hooks.gmail.pushToken':
    '`mode: pull` needs no address that Google can reach, and with `mode: push` Google signs what it posts: remove it.',
  'hooks.gmail.serve':
    'Notifications are pulled, or posted to `/hooks/gmail/push` of this gateway: remove it.',
  'hooks.gmail.tailscale': 'Notifications are pulled, so that no tunnel is needed: remove it.',
}

/** Returns the source that the block configures; none if it is only about the preset. */
export function mailboxSource(block: Values): Readonly<Record<string, Record<string, unknown>>> {
  const own = Object.entries(block).filter(
    ([key]) => !presetKeys.has(key) && !Object.hasOwn(foreignMailboxKeys, `hooks.gmail.${key}`),
  )
  if (own.length === 0) return {}
  const subscription = wholeSubscription(block)
  return { [mailbox]: { ...Object.fromEntries(own), ...(subscription !== undefined && { subscription }) } }
}

/** Completes the name alone, which OpenClaw writes for a subscription in the topic's project. */
export function wholeSubscription({ topic, subscription }: Values): unknown {
  if (typeof topic !== 'string' || typeof subscription !== 'string') return subscription
  const [project] = /^projects\/[^/\s]+(?=\/topics\/)/.exec(topic) ?? []
  return project === undefined || !/^[^/\s]+$/.test(subscription)
    ? subscription
    : `${project}/subscriptions/${subscription}`
}
