/** The channel `msteams`: replies as messages of a bot in Microsoft Teams. */

import { definePlugin } from '@reveille/kit'
import { checkConfig, createTeamsChannel, type TeamsConfig } from './channel.ts'

export default definePlugin<TeamsConfig>({
  name: 'msteams',
  check: checkConfig,
  setup({ config, fetch }) {
    return { channels: [createTeamsChannel({ ...config, fetch, now: Date.now })] }
  },
})
