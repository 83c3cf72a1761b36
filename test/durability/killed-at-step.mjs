/**
 * Is loaded before a gateway (`node --import`). While the file `<REVEILLE_TEST_STEPS>/at` holds a number, the steps that this process
 * takes with the files of the store are counted, and before the one with that number the process kills itself. `<REVEILLE_TEST_STEPS>/steps`
 * lists them. Steps are the calls that create, write, sync, rename and remove a file in the data folder, and each backup of the database.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const folder = process.env['REVEILLE_TEST_STEPS']
const data = process.env['REVEILLE_TEST_DATA']

if (folder !== undefined && data !== undefined) {
  const { appendFileSync, readFileSync } = fs
  const opened = new Map()
  let count = 0
  let isWithin = false

  const isStores = (path) => path === data || String(path).startsWith(join(data, 'reveille.db'))

  function step(what, path) {
    let at
    try {
      at = Number(readFileSync(join(folder, 'at'), 'utf8'))
    } catch {
      count = 0
      return
    }
    count += 1
    const isLast = count === at
    appendFileSync(
      join(folder, 'steps'),
      `${isLast ? 'killed before ' : ''}${what} ${String(path).slice(data.length)}\n`,
    )
    if (!isLast) return
    process.kill(process.pid, 'SIGKILL')
    // A signal takes a moment, and the next step must not be taken meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }

  for (const name of [
    'openSync',
    'writeFileSync',
    'renameSync',
    'rmSync',
    'unlinkSync',
    'copyFileSync',
    'fsyncSync',
  ]) {
    const call = fs[name]
    fs[name] = (...given) => {
      const path = name === 'fsyncSync' ? opened.get(given[0]) : given[0]
      const isRead = name === 'openSync' && !/[wax+]/.test(String(given[1] ?? 'r'))
      if (path !== undefined && isStores(path) && !isRead && !isWithin) step(name, path)
      // One call may be made of others.
      const before = isWithin
      isWithin = true
      try {
        const result = call(...given)
        if (name === 'openSync') opened.set(result, given[0])
        return result
      } finally {
        isWithin = before
      }
    }
  }
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (sql, ...rest) {
    if (/^VACUUM INTO/i.test(sql)) step('VACUUM INTO', data)
    return prepare.call(this, sql, ...rest)
  }
  syncBuiltinESMExports()
}
