/** The channel `imessage` sends replies through Messages on a Mac, which a BlueBubbles server reaches. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createIMessageChannel, type IMessageConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<IMessageConfig>({
  name: 'imessage',
  check: ({ defaultTo }) => checkDefaultTo(defaultTo, parseTarget),
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createIMessageChannel({ config, fetch, now: Date.now })] }
  },
})
