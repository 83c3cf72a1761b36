/** Owns how a person or a supervisor has the files of a running gateway read again: by SIGHUP, but for Windows. */

import { closeSync, openSync } from 'node:fs'
import type { Signals } from './stop-signal.ts'

/**
 * A terminal that closes sends the same signal to what ran in it, and then it means the end.
 *
 * `hasTerminal`: whether the process began on one. `isTerminalThere`: whether that is there now.
 */
export function createReloadSignal(options: {
  readonly signals: Signals
  readonly platform: NodeJS.Platform
  readonly hasTerminal: boolean
  readonly isTerminalThere?: () => boolean
  onReload(): void
  onTerminalGone(): void
}): { close(): void } {
  const { signals, platform, hasTerminal, isTerminalThere = canOpenTerminal } = options

  function listen(): void {
    if (hasTerminal && !isTerminalThere()) options.onTerminalGone()
    else options.onReload()
  }

  if (platform !== 'win32') signals.on('SIGHUP', listen)
  return { close: () => void signals.off('SIGHUP', listen) }
}

/** The system takes the terminal away before it sends the signal. */
function canOpenTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
