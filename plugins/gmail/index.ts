/** The source `gmail` wakes the agent when new mail comes. */

import { definePlugin } from '@reveille/kit'
import type { GmailConfiguration } from './configuration.ts'

export default definePlugin<GmailConfiguration>({
  name: 'gmail',
  setup: ({ config, log, fetch }) => ({
    sources: [
      {
        id: 'gmail',
        async run(call) {
          const { watchMailbox } = await import('./watch/index.ts')
          const { baseUrls } = config
          const { storage, clock } = call
          await watchMailbox(
            {
              config,
              log,
              async open(credentials) {
                const { openGmail } = await import('./google/open.ts')
                return openGmail({ credentials, storage, baseUrls, fetch, clock })
              },
            },
            call,
          )
        },
      },
    ],
  }),
  connect: async (call) => (await import('./connect/index.ts')).connectMailbox(call),
})
