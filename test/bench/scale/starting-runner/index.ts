/** Provides a runner that answers at once, and writes down when it was called: by the clock that all processes of a machine share. */

import { openSync, writeSync } from 'node:fs'
import { definePlugin } from '@reveille/kit'

export default definePlugin({
  name: 'starting-runner',
  setup() {
    const file = process.env['REVEILLE_BENCH_STARTS']
    if (!file) throw new Error('REVEILLE_BENCH_STARTS must name the file that is written.')
    const starts = openSync(file, 'a')
    return {
      runners: [
        {
          id: 'starting',
          async run({ runId }) {
            writeSync(starts, `${runId} ${process.hrtime.bigint()}\n`)
            return { reply: 'done' }
          },
        },
      ],
    }
  },
})
