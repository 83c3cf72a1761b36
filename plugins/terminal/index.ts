/** The channel `terminal`: replies for the person who watches the gateway. */

import { definePlugin } from '@reveille/kit'
import { createTerminalChannel, parseTarget, type TerminalConfig } from './channel.ts'

export default definePlugin<TerminalConfig>({
  name: 'terminal',
  target: parseTarget,
  setup({ config }) {
    const { stdout, stderr } = process
    const { channel, close } = createTerminalChannel({ ...config, stdout, stderr })
    return { channels: [channel], close }
  },
})
