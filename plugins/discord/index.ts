/** The channel `discord`: replies as messages of a bot. */

import { definePlugin } from '@reveille/kit'
import { createDiscordChannel } from './channel.ts'
import { checkConfiguration, type DiscordConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<DiscordConfig>({
  name: 'discord',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createDiscordChannel({ config, fetch, now: () => performance.now() })] }
  },
})
