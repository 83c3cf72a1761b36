/** The source `gmail`: new mail wakes the agent. Google's libraries are loaded when it runs. */

import { definePlugin } from '@reveille/kit'
import type { GmailConfiguration } from './configuration.ts'

export default definePlugin<GmailConfiguration>({
  name: 'gmail',
  setup: ({ config, log, fetch }) => ({
    sources: [
      {
        id: 'gmail',
        async run(call) {
          const [{ watchMailbox }, { openGoogle }] = await Promise.all([
            import('./watch/index.ts'),
            import('./google/index.ts'),
          ])
          const { baseUrls } = config
          const { storage, clock } = call
          const open = (credentials: Parameters<typeof openGoogle>[0]['credentials']) =>
            openGoogle({ credentials, storage, baseUrls, fetch, clock })
          await watchMailbox({ config, log, open }, call)
        },
      },
    ],
  }),
  connect: async (call) => (await import('./connect/index.ts')).connectMailbox(call),
})
