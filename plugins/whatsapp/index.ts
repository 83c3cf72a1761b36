/** The channel `whatsapp`: replies as messages of a business number, through Meta's Cloud API. */

import { definePlugin } from '@reveille/kit'
import { createWhatsAppChannel } from './channel.ts'
import { checkConfiguration, type WhatsAppConfig } from './configuration.ts'
import { parseTarget } from './target.ts'

export default definePlugin<WhatsAppConfig>({
  name: 'whatsapp',
  check: checkConfiguration,
  target: parseTarget,
  setup({ config, fetch }) {
    return { channels: [createWhatsAppChannel({ config, fetch, now: Date.now })] }
  },
})
