/** The groups of commands that connect sources and providers, without the commands that packages describe. */

import type { CommandRow } from '../command-parts.ts'

/** A command whose names are those of plugins, some of which only the configuration knows. */
function groupRow(about: string): CommandRow {
  const help = "\nNAME is that of a plugin's own source or provider, whose options its page lists."
  return { about, args: [['[name...]', '']], json: false, help, examples: [] }
}

export const groups = {
  connect: groupRow('register a webhook at a provider, and write what the gateway needs for it'),
  disconnect: groupRow('remove a webhook that connect has registered'),
  webhooks: groupRow('connect services that have to be asked for their events'),
}
