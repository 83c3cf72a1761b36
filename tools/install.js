/**
 * Installs what the lock file says and `node_modules` does not hold: what a gateway needs, or everything, with what tests and tools
 * need. This file is plain JavaScript that Node.js 18 can read, without dependencies.
 */

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Thrown where npm failed, after it said why. */
export class InstallFailed extends Error {
  code = 'INSTALL_FAILED'
}

/**
 * @param {string} root
 * @param {{ everything?: boolean, say?: (line: string) => void, env?: NodeJS.ProcessEnv }} [options] `everything`: also what only
 *   tests and tools need.
 * @throws {InstallFailed}
 */
export async function ensureInstalled(
  root,
  { everything = true, say = sayOnStandardError, env = process.env } = {},
) {
  if (!existsSync(lockFile(root)) && isInstalled(root, everything)) return
  const release = await waitForInstallLock(root, say)
  try {
    if (isInstalled(root, everything)) return
    if (existsSync(installedFile(root))) await change(root, everything, say, env)
    if (!isInstalled(root, everything)) await installAnew(root, everything, say, env)
  } finally {
    release()
  }
}

/**
 * Compares content, because times say little after a checkout or a copy: npm leaves its own list of what it
 * installed, as the last step of an install.
 *
 * @param {string} root
 * @param {boolean} everything
 */
export function isInstalled(root, everything) {
  const wanted = packagesOf(path.join(root, 'package-lock.json'))
  if (wanted === undefined) throw new InstallFailed('package-lock.json is missing or is no lock file.')
  const installed = packagesOf(installedFile(root))
  if (installed === undefined) return false
  return Object.entries(wanted).every(([place, entry]) => {
    if (!place.includes('node_modules/') || (entry.dev && !everything)) return true
    const found = installed[place]
    // An optional package that is absent is for another platform.
    if (found === undefined)
      return entry.optional === true || entry.devOptional === true || entry.peer === true
    return found.version === entry.version && found.integrity === entry.integrity
  })
}

/** npm's list of what it installed. Without it, nothing in `node_modules` is relied on. */
function installedFile(root) {
  return path.join(root, 'node_modules', '.package-lock.json')
}

function lockFile(root) {
  return path.join(root, 'build', 'install.pid')
}

/** Keeps every package that is as the lock file says, so that a gateway may run from them meanwhile. */
async function change(root, everything, say, env) {
  const adds = everything && isInstalled(root, false)
  const what = adds ? 'Adding the packages that tests and tools need' : 'Updating the packages'
  say(`${what} (npm install), which takes 10 to 60 seconds …`)
  const present = Object.values(packagesOf(installedFile(root)) ?? {})
  await npm(root, ['install', '--no-save'], everything || present.some((entry) => entry.dev), env)
}

async function installAnew(root, everything, say, env) {
  const what = everything ? 'all packages that package-lock.json names' : 'the packages that a gateway needs'
  say(`Installing ${what} (npm ci), which takes 10 to 60 seconds …`)
  await npm(root, ['ci'], everything, env)
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

/**
 * `npm start` and `npm test` may run side by side after a clone: one installs, and the other waits for it.
 *
 * @returns {Promise<() => void>} releases the lock
 */
async function waitForInstallLock(root, say) {
  const file = lockFile(root)
  mkdirSync(path.dirname(file), { recursive: true })
  for (let waited = 0; ; waited += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isAbandoned(file)) {
      // An install ended in its middle, so that packages may be there in part.
      rmSync(installedFile(root), { force: true })
      rmSync(file, { force: true })
    } else {
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

async function npm(root, command, everything, env) {
  const [file, before] = npmCommand(env)
  const sets = [everything ? '--include=dev' : '--omit=dev', '--include=optional']
  const child = spawn(
    file,
    // Warnings about the engines of packages that this Node.js never loads would only confuse.
    [...before, ...command, ...sets, '--loglevel=error', '--no-audit', '--no-fund'],
    {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32' && before.length === 0,
    },
  )
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).catch((cause) => {
    throw new InstallFailed(`npm cannot be run: ${cause.message}`, { cause })
  })
  if (code === 0) return
  // An npm that fails takes its changes back; one that is killed cannot.
  if (code === null) rmSync(installedFile(root), { force: true })
  throw new InstallFailed(`npm ${command[0]} failed; its message is above. Nothing was started.`)
}

/** The npm that runs this script, on the Node.js that runs it, or else the one on the path. */
export function npmCommand(env) {
  const script = env.npm_execpath
  if (script?.endsWith('npm-cli.js')) return [env.npm_node_execpath ?? process.execPath, [script]]
  return ['npm', []]
}

function sayOnStandardError(line) {
  process.stderr.write(`${line}\n`)
}
