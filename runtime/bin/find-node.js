/** Finds a Node.js that is new enough: the one that runs, or the one that a clone has installed. Plain JavaScript that Node.js 18 can read. */

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Also in `engines` of the published packages. */
const minMajor = 24

export function isNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= minMajor
}

export const tooOld = `Reveille needs Node.js ${minMajor} or newer, and this is ${process.version}: https://nodejs.org/en/download`

/**
 * The folder of a clone into which a Node.js is installed where the machine's own is too old.
 *
 * @param {string} root
 */
export function nodeFolder(root) {
  return path.join(root, 'tools', 'node')
}

/**
 * @param {string} root of the clone
 * @returns {string | undefined} the program that was installed; undefined where there is none for this machine
 */
export function installedNode(root) {
  const modules = path.join(nodeFolder(root), 'node_modules')
  try {
    const [name] = readdirSync(modules).filter((entry) => entry.startsWith('node-'))
    const { bin } = JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8'))
    return path.join(modules, name, bin.node)
  } catch {
    return undefined
  }
}
