#!/usr/bin/env node
/** The command `reveille`. Plain JavaScript that older Node.js can read, so that it can say which one it needs. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installedNode, isNewEnough, tooOld } from './find-node.js'
import { launchedEnvironment } from './parent.js'
import { endAs, relay } from './relay.js'

const home = fileURLToPath(new URL('..', import.meta.url))

ensureHome()
if (isVersionAsked(process.argv)) process.stdout.write(`${ownVersion()}\n`)
else if (isNewEnough()) await run()
else await runOnInstalledNode()

/**
 * A published package has its bundle, and a clone its sources. What Node.js compiles of them is kept for the next command, by their owner
 * alone: others could choose what runs.
 */
async function run() {
  const bundle = path.join(home, 'bundle')
  const isPublished = existsSync(bundle)
  const isOwner = process.getuid === undefined || process.getuid() === statSync(home).uid
  if (isOwner)
    module.enableCompileCache(path.join(isPublished ? bundle : path.join(home, '..', 'build'), 'cache'))
  const entry = isPublished ? path.join(bundle, 'main.js') : path.join(home, 'main.ts')
  await import(pathToFileURL(entry).href)
}

/** A clone may have a Node.js of its own, which begins with this file again. */
async function runOnInstalledNode() {
  const node = installedNode(path.join(home, '..'))
  if (node !== undefined)
    return endAs(await relay(node, process.argv.slice(1), { env: launchedEnvironment() }))
  process.stderr.write(`${tooOld}\n`)
  process.exitCode = 1
}

/** A user of a container often has no entry in /etc/passwd. Docker then sets HOME to `/`; where HOME is not set either, this does. */
function ensureHome() {
  try {
    homedir()
  } catch {
    process.env.HOME = '/'
  }
}

/** The command line answers this too; here it takes a tenth of the time. */
function isVersionAsked([_node, _file, option, ...others]) {
  return others.length === 0 && (option === '--version' || option === '-V')
}

function ownVersion() {
  return JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).version
}
