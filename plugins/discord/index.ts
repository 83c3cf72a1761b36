/** The channel `discord`: replies as messages of a bot. */

import { definePlugin } from '@reveille/kit'
import { createDiscordChannel } from './channel.ts'
import { checkConfiguration, type DiscordConfig } from './configuration.ts'

export default definePlugin<DiscordConfig>({
  name: 'discord',
  check: checkConfiguration,
  setup({ config, fetch }) {
    return { channels: [createDiscordChannel({ config, fetch, now: () => performance.now() })] }
  },
})
