/**
 * Installs what package-lock.json names, where it is not installed: what a gateway needs, or also what tests and tools need. Plain
 * JavaScript that Node.js 18 can read, without dependencies.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isNewEnough, nodeFolder } from '../runtime/bin/find-node.js'
import { relay } from '../runtime/bin/relay.js'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Thrown where npm failed, after it said why. */
export class InstallFailed extends Error {
  code = 'INSTALL_FAILED'
}

/**
 * @param {string} root
 * @param {{ everything?: boolean, needsNode?: boolean }} [wanted] `everything`: also what only tests and tools need; `needsNode`: also a
 *   Node.js, by default where the machine's own is too old
 * @throws {InstallFailed}
 */
export async function ensureInstalled(root, { everything = true, needsNode = !isNewEnough() } = {}) {
  const node = nodeFolder(root)
  const isDone = () => isInstalled(root, everything) && (!needsNode || isInstalled(node, false))
  if (!existsSync(lockFile(root)) && isDone()) return
  const release = await waitForLock(root)
  try {
    if (!isInstalled(root, everything)) await install(root, everything)
    if (!isDone()) {
      say(`Installing Node.js 24, as this is ${process.version} …`)
      await npm(node, ['ci'])
    }
  } finally {
    release()
  }
}

/** Compares what npm has installed with the lock file. Times say little after a checkout or a copy. */
function isInstalled(folder, everything) {
  const installed = packagesIn(installedFile(folder))
  if (installed === undefined) return false
  const wanted = packagesIn(path.join(folder, 'package-lock.json'))
  if (wanted === undefined) throw new InstallFailed(`There is no package-lock.json in ${folder}.`)
  return Object.entries(wanted).every(([place, entry]) => {
    if (!place.includes('node_modules/') || (entry.dev && !everything)) return true
    const found = installed[place]
    if (found !== undefined) return found.version === entry.version && found.integrity === entry.integrity
    // An optional package that is absent is for another machine.
    return entry.optional === true || entry.devOptional === true || entry.peer === true
  })
}

/** npm writes this list of what it has installed last. */
function installedFile(folder) {
  return path.join(folder, 'node_modules', '.package-lock.json')
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

/** Installed packages stay, as a gateway may run on them, and tests may need them. */
async function install(root, everything) {
  const before = packagesIn(installedFile(root))
  const isWhole = everything || Object.values(before ?? {}).some(({ dev }) => dev)
  const what = isWhole ? 'all packages' : 'the packages that a gateway needs'
  say(`Installing ${what} takes 10 to 60 seconds …`)
  // Without the list an install that was interrupted counts as none.
  rmSync(installedFile(root), { force: true })
  await npm(root, [...(before ? ['install', '--no-save'] : ['ci']), isWhole ? '--include=dev' : '--omit=dev'])
}

async function npm(cwd, args) {
  const [file, before] = npmCommand(process.env)
  // Packages may ask for other versions of Node.js than the one that runs npm, which never loads them.
  const options = ['--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const shell = process.platform === 'win32' && before.length === 0
  // npm takes its changes back before it ends of a signal, and says nothing of the signal then.
  let received
  const note = (signal) => {
    received = signal
  }
  for (const signal of signals) process.on(signal, note)
  const end = await relay(file, [...before, ...args, ...options], { cwd, shell, stdio: ['ignore', 2, 2] })
  for (const signal of signals) process.off(signal, note)
  if (received !== undefined) process.kill(process.pid, received)
  else if (end.code !== 0)
    throw new InstallFailed(`npm ${args[0]} failed; its message is above. Nothing was started.`)
}

/** The npm that runs this script, on the Node.js that runs it, or else the one on the path. */
export function npmCommand(env) {
  const script = env.npm_execpath
  if (script?.endsWith('npm-cli.js')) return [env.npm_node_execpath ?? process.execPath, [script]]
  return ['npm', []]
}

function lockFile(root) {
  return path.join(root, 'build', 'install.pid')
}

/** `npm start` and `npm test` may run side by side after a clone: one installs, and the other waits for it. */
async function waitForLock(root) {
  const file = lockFile(root)
  mkdirSync(path.dirname(file), { recursive: true })
  for (let waited = 0; ; waited += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isAbandoned(file)) rmSync(file, { force: true })
    else {
      if (waited === 0) say('Waiting for another install to end …')
      await wait(200)
    }
  }
}

function isAbandoned(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // The file is empty for a moment after it was created.
    if (pid > 0) process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

function say(line) {
  process.stderr.write(`${line}\n`)
}
