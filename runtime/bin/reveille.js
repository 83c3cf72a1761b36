#!/usr/bin/env node
/** The command `reveille`: starts the process entry on a Node.js that is new enough. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findNode } from './find-node.js'
import { launchedEnvironment } from './parent.js'
import { endAs, relay } from './relay.js'

/** Published packages hold JavaScript, the repository holds TypeScript. */
const compiled = new URL('../main.js', import.meta.url)
const entry = existsSync(compiled) ? compiled : new URL('../main.ts', import.meta.url)

try {
  const node = findNode()
  if (node.running) await import(entry.href)
  else {
    const args = [fileURLToPath(entry), ...process.argv.slice(2)]
    endAs(await relay(node.file, args, { env: launchedEnvironment() }))
  }
} catch (error) {
  if (error?.code !== 'NODE_MISSING') throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
