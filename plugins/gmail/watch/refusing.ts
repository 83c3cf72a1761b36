/** Owns the list of mails that were refused: who comes onto it, and who is given up. */

import { mostRefused, type RefusedMail, withoutRefused, withRefused } from './cursor.ts'
import type { Watched } from './watched.ts'

type Listed = Pick<Watched, 'clock' | 'cursor' | 'log' | 'status'>

/** Puts it where it will be tried again. The first that came there makes room, where there is none. */
export function refuse(listed: Listed, id: string, code: string): void {
  const { clock, cursor, log } = listed
  const { refused } = cursor.get()
  const isNew = !refused.some((mail) => mail.id === id)
  const [first] = refused
  if (isNew && first && refused.length >= mostRefused) giveUp(listed, first)
  cursor.change((before) => withRefused(before, id, code, clock.now()))
  if (isNew) log.warn('gmail-mail-refused', { id, code })
  countRefused(listed)
}

export function giveUp(listed: Listed, { id, code, tries }: RefusedMail): void {
  listed.log.error('gmail-mail-given-up', { id, code, tries })
  forget(listed, id)
}

export function forget(listed: Listed, id: string): void {
  listed.cursor.change((before) => withoutRefused(before, new Set([id])))
  countRefused(listed)
}

/** After each change of the list. */
export function countRefused({ cursor, status }: Pick<Listed, 'cursor' | 'status'>): void {
  status.count('refused', cursor.get().refused.length)
}
