/** The channel `telegram`: replies as messages of a bot. */

import { definePlugin } from '@reveille/kit'
import { createTelegramChannel } from './channel.ts'
import { checkConfiguration, type TelegramConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<TelegramConfig>({
  name: 'telegram',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch, log }) {
    return { channels: [createTelegramChannel({ config, fetch, log, now: Date.now })] }
  },
})
