/** The channel `msteams`: replies as messages of a bot in Microsoft Teams. */

import { definePlugin } from '@reveille/kit'
import { createTeamsChannel } from './channel.ts'
import { checkConfiguration, type TeamsConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<TeamsConfig>({
  name: 'msteams',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createTeamsChannel({ config, fetch, now: Date.now })] }
  },
})
