/** The channel `whatsapp` sends replies as messages of a business number, through Meta's Cloud API. */

import { checkDefaultTo, definePlugin } from '@reveille/kit'
import { createWhatsAppChannel, type WhatsAppConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<WhatsAppConfig>({
  name: 'whatsapp',
  check: ({ defaultTo }) => checkDefaultTo(defaultTo, parseTarget),
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createWhatsAppChannel({ config, fetch, now: Date.now })] }
  },
})
