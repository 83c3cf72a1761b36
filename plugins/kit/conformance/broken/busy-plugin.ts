/** A plugin that wrongly starts something when it is imported. */

import { definePlugin } from '../../plugin.ts'

setInterval(() => {}, 1000).unref()
process.on('SIGTERM', () => {})

export default definePlugin({ name: 'busy', setup: () => ({}) })
