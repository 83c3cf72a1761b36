/**
 * Installs with `npm ci` where `node_modules` does not hold what the lock file says. This file is plain JavaScript that Node.js 18 can
 * read, without dependencies.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Thrown where `npm ci` failed, after npm said why. */
export class InstallFailed extends Error {
  code = 'INSTALL_FAILED'
}

/**
 * @param {string} root
 * @param {{ say?: (line: string) => void, env?: NodeJS.ProcessEnv }} [options]
 * @throws {InstallFailed}
 */
export async function ensureInstalled(root, { say = sayOnStandardError, env = process.env } = {}) {
  if (isInstalled(root)) return
  const release = await waitForInstallLock(path.join(root, 'build', 'install.pid'), say)
  try {
    if (isInstalled(root)) return
    say('Installing the packages that package-lock.json names (npm ci) …')
    await npmCi(root, env)
  } finally {
    release()
  }
}

/**
 * Compares content, because times say little after a checkout or a copy: npm leaves its own list of what it
 * installed, as the last step of an install.
 *
 * @param {string} root
 */
export function isInstalled(root) {
  const wanted = packagesOf(path.join(root, 'package-lock.json'))
  if (wanted === undefined) throw new InstallFailed('package-lock.json is missing or is no lock file.')
  const installed = packagesOf(path.join(root, 'node_modules', '.package-lock.json'))
  if (installed === undefined) return false
  return Object.entries(wanted).every(([place, entry]) => {
    if (!place.includes('node_modules/')) return true
    const found = installed[place]
    // An optional package that is absent is for another platform.
    if (found === undefined)
      return entry.optional === true || entry.devOptional === true || entry.peer === true
    return found.version === entry.version && found.integrity === entry.integrity
  })
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
async function waitForInstallLock(file, say) {
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

async function npmCi(root, env) {
  const [file, args] = npmCommand(env)
  const child = spawn(
    file,
    // Warnings about the engines of packages that this Node.js never loads would only confuse.
    [...args, 'ci', '--loglevel=error', '--no-audit', '--no-fund', '--include=dev', '--include=optional'],
    {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32' && args.length === 0,
    },
  )
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).catch((cause) => {
    throw new InstallFailed(`npm cannot be run: ${cause.message}`, { cause })
  })
  if (code !== 0) throw new InstallFailed('npm ci failed; its message is above. Nothing was started.')
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
