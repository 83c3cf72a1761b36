/** A plugin without effects before its setup. */

import { definePlugin } from '../../plugin.ts'

export default definePlugin({ name: 'inert', setup: () => ({}) })
