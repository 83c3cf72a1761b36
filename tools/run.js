/**
 * Runs the job of an npm script: installs what is missing, finds a Node.js that is new enough, and runs the job on it. This file is
 * plain JavaScript that Node.js 18 can read; jobs may be as modern as they like.
 */

import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedNode, isNewEnough, tooOld } from '../runtime/bin/find-node.js'
import { endWithLauncher, launchedEnvironment, watchParent } from '../runtime/bin/parent.js'
import { endAs, relay } from '../runtime/bin/relay.js'
import { ensureInstalled } from './install.js'

/** Each job with the module that exports it under its name, as `(root, args) => Promise<End | undefined>`. */
const jobs = new Map([
  ['start', './start.js'],
  ['dev', './jobs.ts'],
  ['test', './jobs.ts'],
  ['check', './jobs.ts'],
  ['format', './jobs.ts'],
  ['bench', './jobs.ts'],
  ['soak', './jobs.ts'],
  ['test:cli', './jobs.ts'],
  ['setup:browser', './browser.ts'],
  ['pack', './pack.ts'],
  ['release', './release.ts'],
  ['schemas', './schemas.ts'],
])

/** Errors that are shown by their message alone. */
const expected = new Set(['NODE_MISSING', 'INSTALL_FAILED', 'PACK_FAILED', 'RELEASE_NOT_READY'])

endWithLauncher()
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
const [name, ...args] = process.argv.slice(2)
const file = jobs.get(name)

if (file === undefined) {
  process.stderr.write(`Usage: node tools/run.js ${[...jobs.keys()].join(' | ')}\n`)
  process.exitCode = 2
} else {
  // npm does not pass signals on, so its end counts as one. Without npm a parent may end: `node tools/run.js start &`.
  if (process.env.npm_lifecycle_event === name) watchParent(() => process.kill(process.pid, 'SIGTERM'))
  try {
    await ensureInstalled(root, { everything: name !== 'start' })
    if (isNewEnough()) {
      const job = (await import(file))[name]
      const end = await job(root, args)
      // A job without a result, such as a gateway, goes on by itself.
      if (end) endAs(end)
    } else {
      const node = installedNode(root)
      if (node === undefined) throw Object.assign(new Error(tooOld), { code: 'NODE_MISSING' })
      endAs(await relay(node, process.argv.slice(1), { env: launchedEnvironment() }))
    }
  } catch (error) {
    if (!expected.has(error?.code)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
