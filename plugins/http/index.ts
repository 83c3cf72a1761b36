/** The channel `http` posts replies to a webhook, signed as Standard Webhooks are. */

import { definePlugin } from '@reveille/kit'
import { checkConfig, createHttpChannel, type HttpConfig, parseTarget } from './channel.ts'

export default definePlugin<HttpConfig>({
  name: 'http',
  check: checkConfig,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createHttpChannel({ config, fetch, now: Date.now })] }
  },
})
