/** Keeps the list of refused mails: puts mails on it, gives them up and removes them. */

import type { WatchContext } from './context.ts'
import { maxRefused, type RefusedMail, withoutRefused, withRefused } from './cursor.ts'

type RefusalContext = Pick<WatchContext, 'clock' | 'cursor' | 'log' | 'status'>

/** Puts a mail on the list, to be tried again. On a full list the first mail makes room. */
export function refuse(context: RefusalContext, id: string, code: string): void {
  const { clock, cursor, log } = context
  const { refused } = cursor.get()
  const isNew = !refused.some((mail) => mail.id === id)
  const [first] = refused
  if (isNew && first && refused.length >= maxRefused) giveUp(context, first)
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

/** Reports the length of the list. To be called after each change. */
export function countRefused({ cursor, status }: Pick<RefusalContext, 'cursor' | 'status'>): void {
  status.count('refused', cursor.get().refused.length)
}
