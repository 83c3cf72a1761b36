#!/usr/bin/env node
/** The command `reveille`: starts the process entry on a Node.js that is new enough. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findNode, runOn } from './find-node.js'

try {
  const node = findNode()
  if (node.running) await runEntry()
  // The other Node.js begins with this file again.
  else await runOn(node, process.argv.slice(1))
} catch (error) {
  if (error?.code !== 'NODE_MISSING') throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** Published packages hold JavaScript. The repository holds TypeScript, and what was built of it, which starts much faster. */
async function runEntry() {
  const compiled = new URL('../main.js', import.meta.url)
  if (existsSync(compiled)) return import(compiled.href)
  const { findBuild, runBuild } = await import('./build.js')
  const build = findBuild(fileURLToPath(new URL('../..', import.meta.url)))
  return build === undefined ? import(new URL('../main.ts', import.meta.url).href) : runBuild(build)
}
