/** A plugin that is correct, or breaks the one promise that its configuration names. */

import { definePlugin } from '../../../plugin.ts'
import { compileRedaction } from '../../../quoting.ts'
import { createPagerChannel, type PagerConfig, parseTarget } from './channel.ts'
import { spoilers } from './spoilers.ts'

export default definePlugin<PagerConfig>({
  name: 'pager',
  check(config) {
    if (config.defaultTo === undefined || spoilers[config.breaks ?? '']?.checksNothing) return
    try {
      parseTarget(config.defaultTo)
    } catch (error) {
      throw new Error(`defaultTo: ${(error as Error).message}`)
    }
  },
  setup({ config, fetch, log }) {
    this.check?.(config)
    const spoiler = spoilers[config.breaks ?? '']
    const channel = createPagerChannel(config, fetch, spoiler?.redact ?? compileRedaction([config.token]))
    return { channels: [{ ...channel, ...spoiler?.channel?.(channel, { config, log }) }] }
  },
})
