/** Provides a runner and a channel that write a line to a file, outside the store, for each call. */

import { appendFileSync } from 'node:fs'
import { definePlugin } from '@reveille/kit'

export default definePlugin({
  name: 'counting-runner',
  setup() {
    const witness = process.env['REVEILLE_TEST_WITNESS']
    if (!witness) throw new Error('REVEILLE_TEST_WITNESS must name the file that counts the turns.')
    return {
      channels: [
        {
          id: 'witness',
          limits: { part: 65_536, unit: 'utf16' },
          target: (to) => ({ key: to, kind: 'user' }),
          render: (text) => [{ text }],
          async send({ text }, { key }) {
            appendFileSync(`${witness}.sent`, `${JSON.stringify({ key, text })}\n`)
            return { id: key }
          },
        },
      ],
      runners: [
        {
          id: 'counting',
          async run(turn) {
            appendFileSync(witness, `${turn.runId}\n`)
            return { reply: `turn ${turn.attempt} of ${turn.sessionKey}` }
          },
        },
      ],
    }
  },
})
