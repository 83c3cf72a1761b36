/**
 * Installs what the lock file says and `node_modules` does not hold: what a gateway needs, or everything, with what tests and tools
 * need. This file is plain JavaScript that Node.js 18 can read, without dependencies.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { neededPackage, nodePackages } from '../runtime/bin/find-node.js'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** One Ctrl-C arrives twice, as npm forwards it. Milliseconds. */
const sameSignalMs = 1000

/** Thrown where npm failed, after it said why. */
export class InstallFailed extends Error {
  code = 'INSTALL_FAILED'
}

/**
 * @typedef {object} Wanted
 * @property {boolean} [everything] also what only tests and tools need
 * @property {{ version: string, platform: string, arch: string }} [machine] decides whether a Node.js is installed, and which
 */

/**
 * @param {string} root
 * @param {Wanted & { say?: (line: string) => void, env?: NodeJS.ProcessEnv }} [options]
 * @throws {InstallFailed}
 */
export async function ensureInstalled(
  root,
  { everything = true, machine = process, say = sayOnStandardError, env = process.env } = {},
) {
  const wanted = { everything, machine }
  if (!existsSync(lockFile(root)) && isInstalled(root, wanted)) return
  const release = await waitForInstallLock(root, say)
  try {
    if (isInstalled(root, wanted)) return
    if (existsSync(installedFile(root))) await change(root, wanted, say, env)
    if (!isInstalled(root, wanted)) await installAnew(root, wanted, say, env)
  } finally {
    release()
  }
}

/**
 * Compares content, because times say little after a checkout or a copy: npm leaves its own list of what it
 * installed, as the last step of an install.
 *
 * @param {string} root
 * @param {Required<Wanted>} wanted
 */
function isInstalled(root, { everything, machine }) {
  const installed = packagesOf(installedFile(root))
  if (installed === undefined) return false
  const node = neededPackage(machine)
  return Object.entries(readLock(root).packages).every(([place, entry]) => {
    if (!place.includes('node_modules/') || (entry.dev && !everything)) return true
    const found = installed[place]
    if (found !== undefined) return found.version === entry.version && found.integrity === entry.integrity
    if (place === `node_modules/${node}`) return false
    // An optional package that is absent is for another machine.
    return entry.optional === true || entry.devOptional === true || entry.peer === true
  })
}

/** npm's list of what it installed. Without it, nothing in `node_modules` is relied on. */
function installedFile(root) {
  return path.join(root, 'node_modules', '.package-lock.json')
}

/** Keeps every package that is as the lock file says, so that a gateway may run from them meanwhile. */
async function change(root, wanted, say, env) {
  const adds = isInstalled(root, { ...wanted, everything: false })
  const what = adds ? 'the packages that tests and tools need' : 'what is missing or has changed'
  say(`Installing ${what} (npm install), which takes 10 to 60 seconds …`)
  const present = Object.values(packagesOf(installedFile(root)) ?? {})
  const everything = wanted.everything || present.some((entry) => entry.dev)
  await npm(root, ['install', '--no-save'], { ...wanted, everything }, env)
}

async function installAnew(root, wanted, say, env) {
  const what = wanted.everything
    ? 'all packages that package-lock.json names'
    : 'the packages that a gateway needs'
  say(`Installing ${what} (npm ci), which takes 10 to 60 seconds …`)
  await npm(root, ['ci'], wanted, env)
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

function readLock(root) {
  try {
    const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
    if (lock.packages) return lock
  } catch {}
  throw new InstallFailed('package-lock.json is missing or is no lock file.')
}

function lockFile(root) {
  return path.join(root, 'build', 'install.pid')
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

async function npm(root, command, wanted, env) {
  const options = [
    wanted.everything ? '--include=dev' : '--omit=dev',
    '--include=optional',
    // Warnings about the engines of packages that this Node.js never loads would only confuse.
    '--loglevel=error',
    '--no-audit',
    '--no-fund',
  ]
  const spawned = (more) => runNpm(root, [...command, ...options, ...more], env)
  let end = await withFasterLock(root, wanted, () => spawned(['--replace-registry-host=always']))
  // Some registries keep tarballs at other addresses, which npm then has to ask for.
  if (!end.signal && /^npm (error|ERR!) code E4\d\d/m.test(end.output)) end = await spawned([])
  process.stderr.write(end.output)
  if (end.code === 0 && !end.signal) return
  // An npm that fails takes its changes back; one that is killed cannot.
  if (end.code === null || end.signal) rmSync(installedFile(root), { force: true })
  if (end.signal) process.kill(process.pid, end.signal)
  throw new InstallFailed(`npm ${command[0]} failed; its message is above. Nothing was started.`)
}

/**
 * npm prefers this copy of the lock file while it is there. The copy names the usual address of each package on the registry in use, whose
 * host npm puts in the place of `any.invalid`, and it leaves out a Node.js that this machine does not need.
 */
async function withFasterLock(root, { machine }, run) {
  const lock = readLock(root)
  const installed = packagesOf(installedFile(root)) ?? {}
  for (const [place, entry] of Object.entries(lock.packages)) {
    const name = entry.name ?? place.split('node_modules/').pop()
    if (place.includes('node_modules/') && entry.integrity)
      entry.resolved = `https://any.invalid/${name}/-/${name.split('/').pop()}-${entry.version}.tgz`
    if (nodePackages.includes(name) && name !== neededPackage(machine) && !installed[place])
      entry.os = ['none']
  }
  const copy = path.join(root, 'npm-shrinkwrap.json')
  try {
    writeFileSync(copy, JSON.stringify(lock))
    return await run()
  } finally {
    rmSync(copy, { force: true })
  }
}

/**
 * A signal goes to npm, which then takes its changes back, so that the next install does not begin in the middle of that.
 *
 * @returns {Promise<{ code: number | null, output: string, signal?: NodeJS.Signals }>} `output`: what npm wrote to standard error;
 *   `signal`: the one that this process got meanwhile
 */
async function runNpm(root, args, env) {
  // Each start loads this file, and few install.
  const { spawn } = await import('node:child_process')
  const [file, before] = npmCommand(env)
  const child = spawn(file, [...before, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32' && before.length === 0,
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  let received
  let receivedAt = 0
  const forward = (signal) => {
    if (received === undefined) {
      sayOnStandardError('Waiting for npm to take back what it began; a second signal ends it at once …')
      received = signal
      receivedAt = performance.now()
      child.kill(signal)
    } else if (performance.now() - receivedAt > sameSignalMs) child.kill('SIGKILL')
  }
  for (const signal of signals) process.on(signal, forward)
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new InstallFailed(`npm cannot be run: ${cause.message}`, { cause }))
    })
    child.once('close', (code) => resolve({ code, output, signal: received }))
  }).finally(() => {
    for (const signal of signals) process.off(signal, forward)
  })
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
