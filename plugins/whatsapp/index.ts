/** The channel `whatsapp`: replies as messages of a business number, through Meta's Cloud API. */

import { definePlugin } from '@reveille/kit'
import { createWhatsAppChannel, type WhatsAppConfig } from './channel.ts'
import { parseTarget } from './target.ts'

export default definePlugin<WhatsAppConfig>({
  name: 'whatsapp',
  check,
  setup({ config, fetch }) {
    check(config)
    return { channels: [createWhatsAppChannel({ config, fetch })] }
  },
})

function check({ defaultTo }: WhatsAppConfig): void {
  if (defaultTo !== undefined) parseTarget(defaultTo, 'defaultTo')
}
