/** The runner `ai`: it asks a model, through Vercel's AI SDK, which is loaded with the first turn. */

import { definePlugin } from '@reveille/kit'
import type { AiConfig } from './providers.ts'
import { createAiRunner } from './runner.ts'

export default definePlugin<AiConfig>({
  name: 'ai',
  setup: ({ config, fetch, signal }) => ({ runners: [createAiRunner({ config, fetch, signal })] }),
})
