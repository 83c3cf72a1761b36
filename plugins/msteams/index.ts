/** The channel `msteams` sends replies as messages of a bot in Microsoft Teams. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createTeamsChannel, type TeamsConfig } from './channel.ts'
import { parseTarget, parseTargetInTenant } from './target.ts'

export default definePlugin<TeamsConfig>({
  name: 'msteams',
  check: ({ tenantId, defaultTo }) => checkDefaultTo(defaultTo, (to) => parseTargetInTenant(tenantId, to)),
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createTeamsChannel({ config, fetch, now: Date.now })] }
  },
})
