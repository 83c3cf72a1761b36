/** The channel `discord` sends replies as messages of a bot. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createDiscordChannel, type DiscordConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<DiscordConfig>({
  name: 'discord',
  check: ({ defaultTo }) => checkDefaultTo(defaultTo, parseTarget),
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createDiscordChannel({ config, fetch, now: () => performance.now() })] }
  },
})
