/** Results of commands. */

import { type CommandResult, StoreError } from './port.ts'

export const done: CommandResult = { ok: true }

export function unknown(what: string): CommandResult {
  return { ok: false, why: 'unknown', reason: `there is no such ${what}` }
}

export function wrongState(reason: string): CommandResult {
  return { ok: false, why: 'state', reason }
}

/** Sums up a command about several things. */
export function doneBut(count: number, refused: NonNullable<CommandResult['refused']>): CommandResult {
  return { ok: true, done: count - refused.length, ...(refused.length > 0 && { refused }) }
}

/** @throws StoreError `BAD_ENTRY` for a command about more than `max` things */
export function refuseOver(count: number, max: number, what: string): void {
  if (count > max) throw new StoreError('BAD_ENTRY', `a command accepts at most ${max} ${what}`)
}
