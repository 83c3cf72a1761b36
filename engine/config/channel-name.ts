/** Knows what channels are called besides their own names. */

/** As OpenClaw calls them too. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['imsg', 'imessage'],
  ['teams', 'msteams'],
])

/** The name of the channel that is meant: `msteams` for `teams`, `slack` for `Slack`. One that is not known is left as it is. */
export function channelName(name: string, isKnown: (name: string) => boolean): string {
  if (isKnown(name)) return name
  const lower = name.trim().toLowerCase()
  const own = aliases.get(lower) ?? lower
  return own === 'last' || isKnown(own) ? own : name
}
