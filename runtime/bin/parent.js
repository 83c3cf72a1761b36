/**
 * Notices the end of the process that started this one. SIGKILL cannot be passed on, and
 * the shell between npm and this process passes on no signal, so a gateway would be left behind that holds its port. Plain
 * JavaScript that Node.js 18 can read.
 */

const lookEveryMs = 250

/**
 * Calls `onGone` once, when `parent` is not the parent of this process any more. It keeps no process alive. Windows still names
 * a parent that has ended, so the end is not noticed there.
 *
 * @param {() => void} onGone
 * @param {number} [parent] a process id; default: the parent of now
 */
export function watchParent(onGone, parent = process.ppid) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, lookEveryMs)
  timer.unref()
}

/** Holds the id of the launcher for the process that it starts in its place. */
const launcherVariable = 'REVEILLE_LAUNCHER'

/** The environment for a process that must end with this one. */
export function launchedEnvironment() {
  return { ...process.env, [launcherVariable]: String(process.pid) }
}

/** Ends this process as SIGTERM does once its launcher is gone, if it has one. Programs that it starts do not inherit this. */
export function endWithLauncher() {
  const launcher = Number(process.env[launcherVariable])
  delete process.env[launcherVariable]
  if (launcher > 0) watchParent(() => process.kill(process.pid, 'SIGTERM'), launcher)
}
