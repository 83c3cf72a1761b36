/** The runner `openclaw` hands runs and events to an OpenClaw gateway, which performs them. */

import { definePlugin } from '@reveille/kit'
import type { OpenClawConfig } from './configuration.ts'
import { createOpenClawRunner } from './runner.ts'

export default definePlugin<OpenClawConfig>({
  name: 'openclaw',
  setup: ({ config, fetch }) => ({ runners: [createOpenClawRunner({ config, fetch, now: Date.now })] }),
})
