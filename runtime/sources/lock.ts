/** Locks a source, so that only one process on a data folder runs it. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { oneLine, transientError } from '@reveille/kit'
import { createPrivately, type ExclusiveLock, takeLock } from '../exclusive-lock.ts'

/** Returns undefined while another process holds the lock. It is freed by `close`, and by the kernel if the process dies. @throws PluginError `kept-failed` */
export function lockSource(folder: string): ExclusiveLock | undefined {
  const file = join(folder, 'lock.db')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    createPrivately(file)
    return takeLock(file)
  } catch (cause) {
    const reason = oneLine((cause as Error).message, 200)
    throw transientError('kept-failed', `The folder ${folder} cannot be used: ${reason}.`, { cause })
  }
}
