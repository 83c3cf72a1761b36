/** Finds the command as it is published: bundled once for a run of tests, or for this process where it runs one file alone. */

import { rmSync } from 'node:fs'
import path from 'node:path'
import { writeBundle } from '../tools/bundle.ts'

const root = path.join(import.meta.dirname, '..')
let bundled: Promise<string> | undefined

/** Returns the module to run. */
export function bundledCommand(): Promise<string> {
  const { REVEILLE_TEST_BUNDLE: given } = process.env
  bundled ??= given === undefined ? bundleForProcess() : Promise.resolve(given)
  return bundled
}

async function bundleForProcess(): Promise<string> {
  const folder = path.join(root, 'build', `bundle-${process.pid}`)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await writeBundle(root, folder)
  return path.join(folder, 'main.js')
}
