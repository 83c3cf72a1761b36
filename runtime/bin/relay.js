/**
 * Runs one child process in the place of this one: it has this terminal, gets this process's signals, and
 * decides how this process ends. Plain JavaScript that Node.js 18 can read.
 */

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Ctrl-C reaches every process of the terminal's group, and npm forwards it again. Within this time equal
 * signals count as one. Milliseconds.
 */
const sameSignalMs = 1000

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, notForwarded?: readonly NodeJS.Signals[] }} [options] `notForwarded` are not
 *   passed on: the terminal sends them to the child itself, which would take a second one for a demand to hurry.
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>} rejects when `file` cannot be run
 */
export function relay(file, args, { notForwarded = [], ...options } = {}) {
  return new Promise((resolve, reject) => {
    // Loaded here, because every command loads this file, and few start a process.
    const child = require('node:child_process').spawn(file, args, { stdio: 'inherit', ...options })
    const last = new Map()
    /** @param {NodeJS.Signals} signal */
    function forward(signal) {
      if (notForwarded.includes(signal)) return
      const now = performance.now()
      if (now - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < sameSignalMs) return
      last.set(signal, now)
      child.kill(signal)
    }
    function settle(give) {
      for (const signal of signals) process.off(signal, forward)
      give()
    }
    for (const signal of signals) process.on(signal, forward)
    child.once('error', (error) => settle(() => reject(error)))
    child.once('exit', (code, signal) => settle(() => resolve({ code, signal })))
  })
}

/** Ends this process as the child ended, so that a shell or supervisor sees no difference. */
export function endAs({ code, signal }) {
  if (signal === null) process.exitCode = code ?? 1
  else process.kill(process.pid, signal)
}
