/** The channel `imessage`: replies through Messages on a Mac, which a BlueBubbles server reaches. */

import { definePlugin } from '@reveille/kit'
import { createIMessageChannel } from './channel.ts'
import { checkConfiguration, type IMessageConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<IMessageConfig>({
  name: 'imessage',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createIMessageChannel({ config, fetch, now: Date.now })] }
  },
})
