/** The channel `discord`: replies as messages of a bot. */

import { definePlugin } from '@reveille/kit'
import { createDiscordChannel, type DiscordConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<DiscordConfig>({
  name: 'discord',
  check,
  setup({ config, fetch }) {
    check(config)
    return { channels: [createDiscordChannel({ config, fetch, now: () => performance.now() })] }
  },
})

function check({ defaultTo }: DiscordConfig): void {
  if (defaultTo !== undefined) parseTarget(defaultTo, 'defaultTo')
}
