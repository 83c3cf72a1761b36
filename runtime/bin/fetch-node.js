/**
 * Fetches the pinned Node.js from the npm registry into the user's cache, once, for a machine whose own is too old. Plain JavaScript that
 * Node.js 18 can read.
 */

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { missing, nodeFolder, thisEnvironment } from './find-node.js'

/**
 * npm checks what it gets against the integrity that is pinned here. A second command that fetches at the same time does no harm: the
 * folder appears whole, and the first one to be ready stays.
 *
 * @param {import('./find-node.js').NodePackage} wanted
 * @param {{ environment?: ReturnType<typeof thisEnvironment>, say?: (line: string) => void }} [options]
 * @throws {import('./find-node.js').NodeMissing}
 */
export async function fetchNode(
  wanted,
  { environment = thisEnvironment(), say = (line) => process.stderr.write(`${line}\n`) } = {},
) {
  const folder = nodeFolder(environment, wanted)
  say(
    `Reveille needs Node.js 24 or newer, and this is ${environment.version}. Fetching Node.js ${wanted.version} from npm once\n` +
      `(${wanted.megabytes} MB, to ${folder}) …`,
  )
  let temporary
  try {
    mkdirSync(path.dirname(folder), { recursive: true })
    temporary = mkdtempSync(`${folder}-`)
    describe(temporary, wanted)
    await runNpm(temporary, environment.env)
    keep(temporary, folder)
  } catch (cause) {
    throw missing(environment, `Node.js ${wanted.version} cannot be fetched: ${cause.message}`, { cause })
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  }
}

function describe(folder, { name, version, integrity }) {
  const dependencies = { [name]: version }
  const description = { name: 'reveille-node', version: '1.0.0', private: true, dependencies }
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } }
  const lock = { name: 'reveille-node', version: '1.0.0', lockfileVersion: 3, requires: true, packages }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(description))
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock))
}

/** The npm that started this command, else the one on the path. Rejects with what npm said last. */
function runNpm(cwd, env) {
  const script = env.npm_execpath?.endsWith('npm-cli.js') ? env.npm_execpath : undefined
  const [file, before] = script === undefined ? ['npm', []] : [process.execPath, [script]]
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1']
  // What npx was asked for must not be taken for a question to this npm.
  const { npm_config_global: _global, npm_config_package: _package, npm_config_call: _call, ...others } = env
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...before, 'ci', ...options], {
      cwd,
      env: others,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32' && script === undefined,
    })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.once('error', ({ message }) => reject(new Error(`npm cannot be run: ${message}`)))
    child.once('close', (code, signal) => {
      if (code === 0) return resolve()
      const [line] = output.match(/^npm (?:error|ERR!) (?!code).*/m) ?? []
      reject(new Error(line ?? `npm ended with ${signal ?? code}`))
    })
  })
}

function keep(temporary, folder) {
  try {
    renameSync(temporary, folder)
  } catch (error) {
    if (!existsSync(path.join(folder, 'node_modules'))) throw error
  }
}
