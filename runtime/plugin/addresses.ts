/** Checks the addresses that a configuration writes out: a reply to a wrong one would wait for months to be noticed. */

import {
  type Configuration,
  channelName,
  type Diagnostic,
  holdsUnset,
  type MappingEntry,
} from '@reveille/engine'

/** The address rule of a channel; undefined where the channel is not configured, or says nothing before it runs. */
export type AddressRules = (channel: string) => ((to: string) => unknown) | undefined

/** One error for each literal `to` of a mapping and of `agents.route` that its channel would not take. */
export function checkAddresses(configuration: Configuration, rules: AddressRules): Diagnostic[] {
  const { agents, channels } = configuration.settings
  const found = new Map<string, Diagnostic>()

  function check(
    channel: string | undefined,
    to: string | undefined,
    at: Pick<Configuration, 'locate'>,
    path: (string | number)[],
  ) {
    if (!isLiteral(channel) || !isLiteral(to)) return
    const name = channelName(channel, (known) => Object.hasOwn(channels, known))
    const hint = refusalOf(rules(name), to)
    if (hint === undefined) return
    const place = at.locate(path)
    const message = `\`to\` is no address of the channel ${name}`
    // All mappings of a preset have theirs from one place.
    const key = `${place.file}:${place.line}:${place.column} ${message}`
    found.set(key, { severity: 'error', code: 'INVALID_ADDRESS', message, place, hint })
  }

  const { route } = agents
  if (route !== undefined) check(route.channel, route.to, configuration, ['agents', 'route', 'to'])
  for (const entry of configuration.mappings) {
    if (entry.value.deliver === false) continue
    for (const { channel, to, path } of targetsOf(entry)) check(channel, to, entry, path)
  }
  return [...found.values()]
}

function targetsOf({ value: { channel, to, deliverTo } }: MappingEntry) {
  if (deliverTo === undefined) return [{ channel, to, path: ['to'] }]
  return deliverTo.map((target, index) => ({ ...target, path: ['deliverTo', index, 'to'] }))
}

/** Templates and expressions are known at run time alone, and of a reference that is not set nothing is known. */
function isLiteral(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '' && !/\{\{|\{%/.test(text) && !holdsUnset(text)
}

function refusalOf(rule: ReturnType<AddressRules>, to: string): string | undefined {
  try {
    rule?.(to)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'The channel refuses it.'
  }
}
