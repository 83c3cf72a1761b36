/** Provides a runner that writes a line to a file, outside the store, for each call. */

import { appendFileSync } from 'node:fs'
import { definePlugin } from '@reveille/kit'

export default definePlugin({
  name: 'counting-runner',
  setup() {
    const witness = process.env['REVEILLE_TEST_WITNESS']
    if (!witness) throw new Error('REVEILLE_TEST_WITNESS must name the file that counts the turns.')
    return {
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
