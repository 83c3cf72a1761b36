/** A plugin that is correct, or breaks the one promise that its configuration names. */

import { createServer } from 'node:net'
import { definePlugin } from '../../../plugin.ts'
import { createFeed, type FeedConfig } from './source.ts'
import { spoilers } from './spoilers.ts'

export default definePlugin<FeedConfig>({
  name: 'feed',
  setup(context) {
    const { config, fetch } = context
    const { breaks = '' } = config
    if (breaks === 'has no effect at setup') void fetch(config.baseUrl).catch(() => {})
    if (breaks === 'leaves nothing open after close') createServer().listen(0, '127.0.0.1')
    const source = createFeed(config, fetch)
    return { sources: [{ ...source, run: spoilers[breaks]?.(source.run, context) ?? source.run }] }
  },
})
