/** The channel `signal`: replies through a signal-cli daemon. */

import { definePlugin } from '@reveille/kit'
import { createSignalChannel } from './channel.ts'
import { checkConfiguration, type SignalConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<SignalConfig>({
  name: 'signal',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createSignalChannel({ config, fetch, now: Date.now })] }
  },
})
