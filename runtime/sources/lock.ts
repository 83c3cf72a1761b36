/** Owns that a source runs once: over all processes that use one data folder. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { oneLine, PluginError } from '@reveille/kit'
import { createPrivately, type ExclusiveLock, takeLock } from '../exclusive-lock.ts'

/** Freed by `close`, and by the kernel however the process dies. Undefined while somebody else holds it. @throws PluginError `kept-failed` */
export function lockSource(folder: string): ExclusiveLock | undefined {
  const file = join(folder, 'lock.db')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    createPrivately(file)
    return takeLock(file)
  } catch (cause) {
    throw new PluginError(`The folder ${folder} cannot be used: ${oneLine((cause as Error).message, 200)}.`, {
      code: 'kept-failed',
      retryable: true,
      cause,
    })
  }
}
