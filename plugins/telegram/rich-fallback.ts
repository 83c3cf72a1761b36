/** Sends a rich message as several HTML messages if the server does not know rich messages. */

import { BoundedMap, type Part, type PluginLog, type Receipt, type SendCall } from '@reveille/kit'
import type { MessagePart } from './render.ts'

export interface RichFallbackOptions {
  readonly log: PluginLog
  render(markdown: string): MessagePart[]
  send(part: MessagePart, call: SendCall): Promise<Receipt>
}

/** Maximum number of remembered parts that were partly sent. */
const maxKnown = 100

/**
 * A rich part may be eight times as long as an HTML message, and its one receipt covers all of those messages, since the
 * host resumes at a part and not inside one. The messages of a part that were sent are remembered as long as the process
 * lives, so that the next attempt continues after them.
 */
export function createRichFallback({ log, render, send }: RichFallbackOptions) {
  const sent = new BoundedMap<string, Receipt[]>(maxKnown)
  let needed = false

  function receiptsOf(key: string): Receipt[] {
    const receipts = sent.get(key) ?? []
    sent.set(key, receipts)
    return receipts
  }

  return {
    /** True if this server is known to have no rich messages. */
    isNeeded: () => needed,
    async send(part: Part, call: SendCall, isUnknown = false): Promise<Receipt> {
      const receipts = receiptsOf(call.key)
      for (const message of render(part.text).slice(receipts.length)) {
        receipts.push(await send(message, call))
      }
      sent.delete(call.key)
      // Only a message that was sent proves that "not found" meant the method and not the token.
      if (isUnknown && !needed) {
        needed = true
        log.warn('telegram-rich-unknown', { sentAs: 'html', hint: 'This Bot API server is older than 10.1.' })
      }
      const { at } = receipts.at(-1) ?? {}
      return { id: receipts.map(({ id }) => id).join(','), ...(at !== undefined && { at }) }
    },
  }
}
