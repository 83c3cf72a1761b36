/**
 * Owns what happens when npm goes away: the shell between npm and this process passes no signal on, so `kill` on npm
 * would leave a gateway behind that holds its port. Plain JavaScript that Node.js 18 can read.
 */

const lookEveryMs = 250

/**
 * Calls `onGone` once, when the process that started this one has ended. Keeps nothing alive.
 *
 * @param {() => void} onGone
 */
export function watchParent(onGone) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, lookEveryMs)
  timer.unref()
}
