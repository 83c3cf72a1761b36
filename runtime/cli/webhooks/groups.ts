/** The groups of commands that connect sources and providers, without the commands that packages describe. */

import type { CommandRow } from '../command-parts.ts'

const about = {
  connect: 'register a webhook at a provider, and write what the gateway needs for it',
  disconnect: 'remove a webhook that connect has registered',
  webhooks: 'connect services that have to be asked for their events',
}

type Verb = keyof typeof about

/** A command whose names are those of plugins, some of which only the configuration knows. */
function groupRow(verb: Verb): CommandRow {
  const help = "\nNAME is that of a plugin's own source or provider, whose options its page lists."
  return { about: about[verb], args: [['[name...]', '']], json: false, help, examples: [] }
}

export const groups: Readonly<Record<Verb, CommandRow>> = {
  connect: groupRow('connect'),
  disconnect: groupRow('disconnect'),
  webhooks: groupRow('webhooks'),
}
