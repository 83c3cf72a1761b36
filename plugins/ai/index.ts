/** The runner `ai` asks a model through Vercel's AI SDK, which is loaded with the first turn. */

import { definePlugin } from '@reveille/kit'
import { type AiConfig, parseProviders } from './providers.ts'
import { createAiRunner } from './runner.ts'

export default definePlugin<AiConfig>({
  name: 'ai',
  check: (config) => void parseProviders(config),
  setup: ({ config, fetch, signal }) => ({ runners: [createAiRunner({ config, fetch, signal })] }),
})
