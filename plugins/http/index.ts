/** The channel `http` posts replies to a webhook, signed as Standard Webhooks are. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { checkUrl, createHttpChannel, type HttpConfig, parseTarget } from './channel.ts'

export default definePlugin<HttpConfig>({
  name: 'http',
  check({ defaultTo, url, allowPrivateAddresses }) {
    checkDefaultTo(defaultTo, parseTarget)
    if (!allowPrivateAddresses) checkUrl(url)
  },
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createHttpChannel({ config, fetch, now: Date.now })] }
  },
})
