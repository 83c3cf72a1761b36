/** A plugin that behaves as tests need it to, and leaves what it saw in a folder. */

import { definePlugin } from '@reveille/kit'
import { createBoard } from './board.ts'
import { createBlabbing, createCountingTurns, createPatient } from './runners.ts'

export interface RehearsalConfig {
  readonly folder: string
  readonly defaultTo?: string
  readonly apiKey?: string
  readonly clings?: boolean
}

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
