/** The channel `telegram` sends replies as messages of a bot. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createTelegramChannel, type TelegramConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<TelegramConfig>({
  name: 'telegram',
  check: ({ defaultTo }) => checkDefaultTo(defaultTo, parseTarget),
  target: parseTarget,
  setup({ config, fetch, log }) {
    return { channels: [createTelegramChannel({ config, fetch, log, now: Date.now })] }
  },
})
