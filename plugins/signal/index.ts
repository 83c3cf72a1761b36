/** The channel `signal` sends replies through a signal-cli daemon. */

import { definePlugin } from '@reveille/kit'
import { checkConfiguration, createSignalChannel } from './channel.ts'
import type { SignalConfig } from './daemon.ts'
import { parseTarget } from './target.ts'

export default definePlugin<SignalConfig>({
  name: 'signal',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createSignalChannel({ config, fetch, now: Date.now })] }
  },
})
