#!/usr/bin/env node
/** The command `reveille`: starts the process entry on a Node.js that is new enough. */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findNode, runOn } from './find-node.js'

try {
  const node = findNode()
  if (isVersionAsked(process.argv)) process.stdout.write(`${ownVersion()}\n`)
  else if (node.running) await runEntry()
  // The other Node.js begins with this file again.
  else await runOn(node, process.argv.slice(1))
} catch (error) {
  if (error?.code !== 'NODE_MISSING') throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** The command line answers this too; here it takes a tenth of the time. */
function isVersionAsked([_node, _file, option, ...others]) {
  return others.length === 0 && (option === '--version' || option === '-V')
}

function ownVersion() {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}

/** Published packages hold JavaScript. The repository holds TypeScript, and what was built of it, which starts much faster. */
async function runEntry() {
  const compiled = new URL('../main.js', import.meta.url)
  if (existsSync(compiled)) return import(compiled.href)
  const { findBuild, runBuild } = await import('./build.js')
  const build = findBuild(fileURLToPath(new URL('../..', import.meta.url)))
  return build === undefined ? import(new URL('../main.ts', import.meta.url).href) : runBuild(build)
}
