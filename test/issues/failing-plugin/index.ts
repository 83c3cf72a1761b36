/** Provides a channel that refuses its credential, a runner that never answers, and a source that ends at once. */

import { type Channel, definePlugin, PluginError, type Runner, type Source } from '@reveille/kit'

export default definePlugin<{ readonly key?: string }>({
  name: 'failing-plugin',
  setup: ({ config: { key } }) => ({
    channels: [createLocked(key)],
    runners: [sleeper],
    sources: [ebb],
  }),
})

function createLocked(key: string | undefined): Channel {
  return {
    id: 'locked',
    limits: { part: 65_536, unit: 'utf16' },
    target: (to) => ({ key: to, kind: 'user' }),
    render: (text) => [{ text }],
    async send(_part, { key: id }) {
      if (key === 'right') return { id }
      throw new PluginError('The service does not know this key.', {
        code: 'bad-credential',
        retryable: false,
      })
    },
  }
}

const sleeper: Runner = {
  id: 'sleeper',
  run: (_turn, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
}

const ebb: Source = {
  id: 'ebb',
  async run() {
    throw new PluginError('The service has closed this account.', {
      code: 'account-closed',
      retryable: false,
    })
  },
}
