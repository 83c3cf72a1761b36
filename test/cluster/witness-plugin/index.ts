/** Provides a runner and a channel that write down each of their calls, with the process that made it, outside the store. */

import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { definePlugin } from '@reveille/kit'

/** One call. The order of the lines is the order in which they happened, whichever process wrote them. */
export interface WitnessLine {
  readonly what: 'begun' | 'ended' | 'sent'
  /** The run, or the key of a part of a delivery. */
  readonly subject: string
  readonly session?: string
  readonly pid: number
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

export default definePlugin({
  name: 'witness-plugin',
  setup() {
    const file = process.env['REVEILLE_TEST_WITNESS']
    if (!file) throw new Error('REVEILLE_TEST_WITNESS must name the file that is written.')
    // A test may have set the clock of this process.
    const now = () => Math.round(performance.timeOrigin + performance.now())
    const note = (line: Pick<WitnessLine, 'what' | 'subject' | 'session'>) =>
      appendFileSync(file, `${JSON.stringify({ ...line, pid: process.pid, at: now() })}\n`)
    const timesBegun = (run: string) =>
      readFileSync(file, 'utf8').split(`"what":"begun","subject":"${run}"`).length - 1
    return {
      channels: [
        {
          id: 'witness',
          limits: { part: 65_536, unit: 'utf16' },
          target: (to) => ({ key: to, kind: 'user' }),
          render: (text) => [{ text }],
          async send(_part, { key }) {
            note({ what: 'sent', subject: key })
            return { id: key }
          },
        },
      ],
      runners: [
        {
          id: 'witness',
          async run({ runId, sessionKey, kind, prompt }, { signal }) {
            if (kind === 'heartbeat') return { reply: 'HEARTBEAT_OK' }
            note({ what: 'begun', subject: runId, session: sessionKey })
            const [, times] = /not answered the first (\d+) times/.exec(prompt) ?? []
            if (timesBegun(runId) <= Number(times ?? 0)) await pause(600_000, undefined, { signal })
            // Long enough to be hit by a kill now and then.
            await pause(5 + Math.random() * 20, undefined, { signal })
            note({ what: 'ended', subject: runId, session: sessionKey })
            return { reply: `an answer of ${sessionKey}` }
          },
        },
      ],
    }
  },
})
