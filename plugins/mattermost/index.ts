/** The channel `mattermost`: replies as posts on a Mattermost server. */

import { definePlugin } from '@reveille/kit'
import { checkConfig, createMattermostChannel, type MattermostConfig } from './channel.ts'

export default definePlugin<MattermostConfig>({
  name: 'mattermost',
  check: checkConfig,
  setup({ config, fetch }) {
    return { channels: [createMattermostChannel({ ...config, fetch, now: Date.now })] }
  },
})
