/** Checks the literal addresses of a configuration, since a wrong one might be noticed only months later. */

import {
  type Configuration,
  channelName,
  type Diagnostic,
  holdsUnset,
  type MappingEntry,
} from '@reveille/engine'

/** Returns the address rule of a channel; undefined if the channel is not configured, or has no rule before it runs. */
export type AddressRules = (channel: string) => ((to: string) => unknown) | undefined

/** Returns one error for each literal `to` of a mapping and of `agents.route` that its channel would refuse. */
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
    // All mappings of a preset have their address from one place, which is reported once.
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

/** The result of a template or an expression is known at run time only, and an unset reference has no value. */
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
