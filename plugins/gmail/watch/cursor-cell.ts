/**
 * Holds the cursor while a source runs: reads it with care, changes it in one place, and writes it one change after
 * the other.
 */

import { isPluginError, type PluginLog, type SourceStorage } from '@reveille/kit'
import { isSameMailbox } from '../account.ts'
import { type Cursor, parseCursor, unknownCursor, unknownHistory } from './cursor.ts'

export type CursorCell = Awaited<ReturnType<typeof openCursor>>

interface CursorOptions {
  readonly storage: SourceStorage
  readonly log: PluginLog
  readonly account: string
  readonly now: () => number
}

const name = 'cursor'

export async function openCursor(options: CursorOptions) {
  let value = await readCursor(options)
  let saved = value
  let writing: Promise<unknown> = Promise.resolve()

  async function write(): Promise<void> {
    const next = value
    if (next === undefined || next === saved) return
    await options.storage.write(name, next)
    saved = next
  }

  function get(): Cursor {
    if (value === undefined) throw new Error('The cursor was asked for before it began.')
    return value
  }

  return {
    /** Undefined before the mailbox was first watched. */
    get value() {
      return value
    },
    get,
    begin(cursor: Cursor) {
      value = cursor
    },
    change(update: (cursor: Cursor) => Cursor) {
      value = update(get())
    },
    /** Resolves when all earlier changes are on disk. @throws PluginError `kept-failed` */
    save(): Promise<void> {
      const next = writing.then(write)
      writing = next.catch(() => undefined)
      return next
    },
    /** Resolves when nothing is being written. */
    async settled() {
      await writing
    },
  }
}

/** A cursor that cannot be understood is no first start: mails came since, so the mailbox has to be listed. */
async function readCursor({ storage, log, account, now }: CursorOptions): Promise<Cursor | undefined> {
  let found: unknown
  try {
    found = await storage.read(name)
  } catch (error) {
    if (!isPluginError(error) || error.code !== 'kept-damaged') throw error
    log.error('gmail-cursor-damaged', { account, code: error.code })
    return unknownCursor(account, now())
  }
  if (found === undefined) return undefined
  const cursor = parseCursor(found, now())
  if (cursor === undefined) {
    log.error('gmail-cursor-damaged', { account })
    return unknownCursor(account, now())
  }
  if (!isSameMailbox(cursor.account, account)) {
    log.warn('gmail-account-changed', { account })
    return undefined
  }
  if (cursor.historyId === unknownHistory) log.error('gmail-cursor-damaged', { account })
  return cursor
}
