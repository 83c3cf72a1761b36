/** A runner that leaves a witness outside the store: one line in a file for every time the model is asked. */

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
