/** The channel `mattermost` sends replies as posts on a Mattermost server. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createMattermostChannel, type MattermostConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<MattermostConfig>({
  name: 'mattermost',
  check: ({ defaultTo }) => checkDefaultTo(defaultTo, parseTarget),
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createMattermostChannel({ config, fetch, now: Date.now })] }
  },
})
