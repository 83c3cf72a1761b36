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

/** Keys of OpenClaw without effect: its watcher needs a Pub/Sub topic, and an address that Google reaches. */
const watcherKeys = 'topic subscription renewEveryMinutes pushToken hookUrl serve tailscale'.split(' ')

/** The same by their paths, with the alternative. */
export const foreignMailboxKeys: Readonly<Record<string, string>> = Object.fromEntries(
  watcherKeys.map((key) => [
    [...mailboxPath, key].join('.'),
    "It is not needed, because Reveille reads the mailbox's history itself: remove it.",
  ]),
)

/** Returns the source that the block configures; none if it is only about the preset. */
export function mailboxSource(block: Values): Readonly<Record<string, Record<string, unknown>>> {
  const own = Object.entries(block).filter(([key]) => !presetKeys.has(key) && !watcherKeys.includes(key))
  return own.length === 0 ? {} : { [mailbox]: Object.fromEntries(own) }
}
