/**
 * Prepares a process of `npm test`: limits its time, and starts the gateway's threads from bundles.
 *
 * Node.js limits a test, not what the test leaves open: a gateway that was not closed would keep its file, and with it the whole run, for
 * ever. And a thread that loads its program from the sources takes four times the processor time of one that loads a bundle, of which a
 * gateway has two to six.
 */

import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import threads from 'node:worker_threads'

/** The slowest file takes half a minute on two quiet cores. */
const minutes = 8

if (threads.isMainThread) {
  if (process.env.NODE_TEST_CONTEXT !== undefined) limitTime()
  const folder = new URL(import.meta.url).searchParams.get('threads')
  if (folder !== null) startFromBundles(folder)
}

function limitTime() {
  const limit = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`${process.argv[1]}: not ended after ${minutes} minutes; still open: ${open}\n`)
    process.exit(1)
  }, minutes * 60_000)
  limit.unref()
}

/** The folder holds the programs of threads, bundled under the names of their sources. */
function startFromBundles(folder) {
  const root = path.join(import.meta.dirname, '..')
  const own = [path.join(root, 'engine'), path.join(root, 'runtime')]
  threads.Worker = class Worker extends threads.Worker {
    constructor(program, options) {
      const bundled = bundleOf(program)
      // A thread would load this module too.
      if (bundled === undefined) super(program, options)
      else super(bundled, { execArgv: [], ...options })
    }
  }
  syncBuiltinESMExports()

  function bundleOf(program) {
    const file = program instanceof URL ? fileURLToPath(program) : program
    if (!own.some((place) => file.startsWith(place + path.sep)) || !file.endsWith('.ts')) return undefined
    const bundled = path.join(folder, `${path.basename(file, '.ts')}.js`)
    return existsSync(bundled) ? bundled : undefined
  }
}
