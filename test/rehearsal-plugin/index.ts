/** Provides a plugin that behaves as tests need, and records its calls in a folder. */

import { definePlugin } from '@reveille/kit'
import { createBoard } from './board.ts'
import type { RehearsalConfig } from './configuration.ts'
import { createBlabbing, createCountingTurns, createPatient } from './runners.ts'

export default definePlugin<RehearsalConfig>({
  name: 'rehearsal-plugin',
  setup({ config, log }) {
    if (config.clings) setInterval(() => {}, 60_000)
    return {
      channels: [createBoard(config)],
      runners: [createCountingTurns(), createPatient(config), createBlabbing(config, log)],
    }
  },
})
