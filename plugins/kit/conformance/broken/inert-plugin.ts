/** A plugin that waits for its setup. */

import { definePlugin } from '../../plugin.ts'

export default definePlugin({ name: 'inert', setup: () => ({}) })
