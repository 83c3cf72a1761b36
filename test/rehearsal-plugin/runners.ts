/** Provides runners whose answers show a test what they were called with, and when. */

import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { PluginLog, Runner } from '@reveille/kit'
import type { RehearsalConfig } from './configuration.ts'

export const startsFile = 'starts'
export const goFile = 'go'

/** Answers with the number of earlier turns in its history. Earlier turns take longer, so that a later one could overtake them. */
export function createCountingTurns(): Runner {
  return {
    id: 'counting-turns',
    async run({ kind, history }, { signal }) {
      const turns = history.filter(({ role }) => role === 'assistant').length
      await pause(Math.max(1, 10 - turns), undefined, { signal })
      // Heartbeats have nothing to report in these tests.
      return { reply: kind === 'heartbeat' ? 'HEARTBEAT_OK' : `${turns} earlier` }
    },
  }
}

/** Records its call, and answers once the file `go` lists its session, or `*` for all sessions. */
export function createPatient({ folder }: RehearsalConfig): Runner {
  return {
    id: 'patient',
    async run({ runId, sessionKey, kind }, { signal }) {
      if (kind === 'heartbeat') return { reply: 'HEARTBEAT_OK' }
      await appendFile(join(folder, startsFile), `${runId} ${sessionKey}\n`)
      for (;;) {
        const go = await readFile(join(folder, goFile), 'utf8').catch(() => '')
        if (go.split('\n').some((line) => line === sessionKey || line === '*')) return { reply: 'done' }
        await pause(10, undefined, { signal })
      }
    },
  }
}

/** Leaks all it knows: into the log, and into an error that is not a PluginError. */
export function createBlabbing({ apiKey }: RehearsalConfig, log: PluginLog): Runner {
  return {
    id: 'blabbing',
    async run({ prompt }) {
      log.warn('blabbed', { apiKey, url: `https://example.org/?key=${apiKey}` })
      throw new Error(`${apiKey} was asked ${prompt}`)
    },
  }
}
