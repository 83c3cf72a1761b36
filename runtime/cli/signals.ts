/** Listens for the signals by which a terminal or a supervisor stops a gateway or has it read its files again. */

import { closeSync, openSync } from 'node:fs'

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Ctrl-C in `npm start` arrives twice: from the terminal, and passed on by npm. Milliseconds. */
const sameSignalMs = 1000

/** A process, as far as this file needs one. */
export interface Signals {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
}

/** `onInsist` is called for each later signal, by which the sender says that it does not want to wait for the drain. */
export function createStopSignal({
  signals,
  now = () => performance.now(),
  onInsist = () => {},
}: {
  /** Absent: none comes. */
  readonly signals: Signals | undefined
  /** Milliseconds, monotonic. */
  readonly now?: () => number
  readonly onInsist?: (signal: NodeJS.Signals) => void
}) {
  let last: number | undefined
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()

  function listen(signal: NodeJS.Signals): void {
    const at = now()
    const sinceLast = last === undefined ? undefined : at - last
    last = at
    if (sinceLast === undefined) resolve(signal)
    else if (sinceLast >= sameSignalMs) onInsist(signal)
  }

  for (const signal of stopSignals) signals?.on(signal, listen)
  return {
    /** Resolves with the first signal. */
    first: promise,
    close() {
      for (const signal of stopSignals) signals?.off(signal, listen)
    },
  }
}

/**
 * SIGHUP reloads, except on Windows. A terminal that closes sends it too, to what ran in it, and then it means the end.
 *
 * `hasTerminal`: whether the process began on a terminal. `isTerminalThere`: whether that is there now.
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

/** The system removes the terminal before it sends the signal. */
function canOpenTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
