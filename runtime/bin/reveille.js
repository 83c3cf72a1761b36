#!/usr/bin/env node
/** The command `reveille`: starts the process entry on a Node.js that is new enough. */

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findNode, runOn } from './find-node.js'

ensureHome()
try {
  if (isVersionAsked(process.argv)) process.stdout.write(`${ownVersion()}\n`)
  else await run(await findOrFetchNode())
} catch (error) {
  if (error?.code !== 'NODE_MISSING') throw error
  process.stderr.write(`${error.message}\n`)
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

async function findOrFetchNode() {
  try {
    return findNode()
  } catch (error) {
    if (error?.wanted === undefined) throw error
    const { fetchNode } = await import('./fetch-node.js')
    await fetchNode(error.wanted)
    return findNode()
  }
}

/** The other Node.js begins with this file again. */
function run(node) {
  return node.running ? runEntry() : runOn(node, process.argv.slice(1))
}

/** The command line answers this too; here it takes a tenth of the time. */
function isVersionAsked([_node, _file, option, ...others]) {
  return others.length === 0 && (option === '--version' || option === '-V')
}

function ownVersion() {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}

/** A published package holds the bundle of this command. The repository holds its sources, and what was built of them, which starts much faster. */
async function runEntry() {
  const { findBuild, findPublished, runBuild } = await import('./build.js')
  const home = fileURLToPath(new URL('..', import.meta.url))
  const build = findPublished(home) ?? findBuild(path.dirname(home))
  return build === undefined ? import(pathToFileURL(path.join(home, 'main.ts')).href) : runBuild(build)
}
