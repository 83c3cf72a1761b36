/** Provides a runner that does not answer before its run is aborted, so that the runs behind it stay queued. */

import { once } from 'node:events'
import { definePlugin } from '@reveille/kit'

export default definePlugin({
  name: 'holding-runner',
  setup() {
    return {
      runners: [
        {
          id: 'holding',
          async run(_turn, { signal }) {
            await once(signal, 'abort')
            throw signal.reason
          },
        },
      ],
    }
  },
})
