/**
 * Is loaded before a gateway (`node --import`). While the file `<pipe>.on` exists, the store's COMMIT opens the named
 * pipe and waits in the kernel until a writer opens it too, as a thread waits for a hanging disk. Only SIGKILL ends
 * the wait. While the file `<pipe>.full` exists, COMMIT fails as on a full disk.
 */

import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'

const pipe = process.env['REVEILLE_TEST_PIPE']

if (pipe !== undefined && !isMainThread) {
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (sql, ...rest) {
    const statement = prepare.call(this, sql, ...rest)
    if (sql !== 'COMMIT') return statement
    const run = statement.run.bind(statement)
    statement.run = (...values) => {
      if (existsSync(`${pipe}.full`))
        throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
      if (existsSync(`${pipe}.on`)) closeSync(openSync(pipe, 'r'))
      return run(...values)
    }
    return statement
  }
}
