/** The channel `mattermost`: replies as posts on a Mattermost server. */

import { definePlugin } from '@reveille/kit'
import { createMattermostChannel } from './channel.ts'
import { checkConfiguration, type MattermostConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<MattermostConfig>({
  name: 'mattermost',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createMattermostChannel({ config, fetch, now: Date.now })] }
  },
})
