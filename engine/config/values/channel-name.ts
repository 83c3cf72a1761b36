/** Knows the alternative names of channels. */

/** Some aliases are OpenClaw's. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['imsg', 'imessage'],
  ['teams', 'msteams'],
])

/** Returns the channel that a name means: `msteams` for `teams`, `slack` for `Slack`. An unknown name stays as it is. */
export function channelName(name: string, isKnown: (name: string) => boolean): string {
  if (isKnown(name)) return name
  const lower = name.trim().toLowerCase()
  const own = aliases.get(lower) ?? lower
  return own === 'last' || isKnown(own) ? own : name
}
