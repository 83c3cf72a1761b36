/** Owns the list of mails that were refused: who comes onto it, and who is given up. */

import type { WatchContext } from './context.ts'
import { mostRefused, type RefusedMail, withoutRefused, withRefused } from './cursor.ts'

type RefusalContext = Pick<WatchContext, 'clock' | 'cursor' | 'log' | 'status'>

/** Puts it where it will be tried again. The first that came there makes room, where there is none. */
export function refuse(context: RefusalContext, id: string, code: string): void {
  const { clock, cursor, log } = context
  const { refused } = cursor.get()
  const isNew = !refused.some((mail) => mail.id === id)
  const [first] = refused
  if (isNew && first && refused.length >= mostRefused) giveUp(context, first)
  cursor.change((before) => withRefused(before, id, code, clock.now()))
  if (isNew) log.warn('gmail-mail-refused', { id, code })
  countRefused(context)
}

export function giveUp(context: RefusalContext, { id, code, tries }: RefusedMail): void {
  context.log.error('gmail-mail-given-up', { id, code, tries })
  forget(context, id)
}

export function forget(context: RefusalContext, id: string): void {
  context.cursor.change((before) => withoutRefused(before, new Set([id])))
  countRefused(context)
}

/** After each change of the list. */
export function countRefused({ cursor, status }: Pick<RefusalContext, 'cursor' | 'status'>): void {
  status.count('refused', cursor.get().refused.length)
}
