/** The channel `slack`: replies as messages of a Slack app's bot. */

import { definePlugin } from '@reveille/kit'
import { createSlackChannel } from './channel.ts'
import { checkConfiguration, type SlackConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<SlackConfig>({
  name: 'slack',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createSlackChannel({ config, fetch, now: Date.now })] }
  },
})
