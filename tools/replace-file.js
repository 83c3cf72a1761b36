/** Writes a file of a build. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A running gateway, or a build beside this one, sees the old file or the new one. */
export function replaceFile(file, content) {
  const next = `${file}.${process.pid}.next`
  mkdirSync(path.dirname(file), { recursive: true })
  try {
    writeFileSync(next, content)
    renameSync(next, file)
  } finally {
    rmSync(next, { force: true })
  }
}
