/** Defines the errors of a watcher that cannot watch as it should. */

import { own } from '../../config/values/is-record.ts'

export type WatchErrorCode =
  /** The system gives no more events, and files are polled from then on. */
  | 'WATCH_LIMIT'
  /** A folder gives no events, and the slow scan notices its changes. */
  | 'WATCH_FAILED'
  /** A mounted file was replaced where it comes from, and the mount goes on showing the old one. */
  | 'FILE_REPLACED'

export class WatchError extends Error {
  readonly code: WatchErrorCode

  constructor(code: WatchErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'WatchError'
    this.code = code
  }
}

/** The names of the limit on watched files, by the system's error. */
const limits: Readonly<Record<string, string>> = {
  ENOSPC: 'Raise fs.inotify.max_user_watches',
  EMFILE: 'Raise fs.inotify.max_user_instances, or the limit of open files',
  ENFILE: 'Raise fs.file-max',
}

export function watchError(error: unknown, pollMs: number): WatchError {
  if (error instanceof WatchError) return error
  const code = codeOf(error)
  const hint = own(limits, code)
  if (hint === undefined) {
    return new WatchError('WATCH_FAILED', `Some changes are seen only after a while: ${code}`, error)
  }
  const seconds = pollMs / 1000
  const message = `The system watches no more files (${code}); they are looked at every ${seconds} s instead. ${hint} and start again, or start with --poll.`
  return new WatchError('WATCH_LIMIT', message, error)
}

export function replacedFile(path: string): WatchError {
  const message = `${path} was replaced, and its mount shows the old file until the container is started again. Mount the folder instead of the single file.`
  return new WatchError('FILE_REPLACED', message)
}

/** The load that reads a file reports that it is missing or forbidden. Events come back with the file. */
export function isReportedByLoads(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  return String(
    (error as { code?: unknown } | null)?.code ?? (error instanceof Error ? error.message : error),
  )
}
