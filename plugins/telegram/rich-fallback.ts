/** Owns what becomes of a rich message where the server knows none: the messages in HTML that say the same. */

import { BoundedMap, type Part, type PluginLog, type Receipt, type SendCall } from '@reveille/kit'
import type { MessagePart } from './render.ts'

export interface RichFallbackOptions {
  readonly log: PluginLog
  render(markdown: string): MessagePart[]
  send(part: MessagePart, call: SendCall): Promise<Receipt>
}

export interface RichFallback {
  /** Whether this server is known to have no rich messages. */
  isNeeded(): boolean
  send(part: Part, call: SendCall, refusal?: { readonly isUnknown: boolean }): Promise<Receipt>
}

/** Parts under way of which something was sent already. */
const mostKnown = 100

/**
 * A rich part may be eight times as long as a message in HTML, and its receipt stands for all of those: the host goes on
 * at a part, not inside of one. What of a part was sent is remembered as long as the process lives, so that the next
 * attempt goes on behind it.
 */
export function createRichFallback({ log, render, send }: RichFallbackOptions): RichFallback {
  const sent = new BoundedMap<string, Receipt[]>(mostKnown)
  let needed = false

  function receiptsOf(key: string): Receipt[] {
    const receipts = sent.get(key) ?? []
    sent.set(key, receipts)
    return receipts
  }

  return {
    isNeeded: () => needed,
    async send(part, call, { isUnknown } = { isUnknown: false }) {
      const receipts = receiptsOf(call.key)
      for (const message of render(part.text).slice(receipts.length)) {
        receipts.push(await send(message, call))
      }
      sent.delete(call.key)
      // Only now is it sure that "not found" was said of the method, and not of the token.
      if (isUnknown && !needed) {
        needed = true
        log.warn('telegram-rich-unknown', { sentAs: 'html', hint: 'This Bot API server is older than 10.1.' })
      }
      const { at } = receipts.at(-1) ?? {}
      return { id: receipts.map(({ id }) => id).join(','), ...(at !== undefined && { at }) }
    },
  }
}
