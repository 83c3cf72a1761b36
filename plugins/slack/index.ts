/** The channel `slack` posts replies as messages of a Slack app's bot. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createSlackChannel, type SlackConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<SlackConfig>({
  name: 'slack',
  check: ({ defaultTo }) => checkDefaultTo(defaultTo, parseTarget),
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createSlackChannel({ config, fetch, now: Date.now })] }
  },
})
