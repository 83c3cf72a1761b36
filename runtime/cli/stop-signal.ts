/** Owns how a person or a supervisor stops the gateway. */

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Ctrl-C in `npm start` arrives twice: from the terminal, and passed on by npm. Milliseconds. */
const sameSignalMs = 1000

/** A process, as far as this file needs one. */
export interface Signals {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
}

export interface StopSignal {
  /** Resolves with the first signal. */
  readonly first: Promise<NodeJS.Signals>
  close(): void
}

/** `onInsist` is called for each later signal: whoever sends it does not want to wait for the drain. */
export function createStopSignal(options: {
  readonly signals: Signals
  /** Milliseconds, monotonic. */
  readonly now: () => number
  onInsist(signal: NodeJS.Signals): void
}): StopSignal {
  let last: number | undefined
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()

  function listen(signal: NodeJS.Signals): void {
    const now = options.now()
    const repeated = last !== undefined && now - last < sameSignalMs
    const isFirst = last === undefined
    last = now
    if (isFirst) resolve(signal)
    else if (!repeated) options.onInsist(signal)
  }

  for (const signal of stopSignals) options.signals.on(signal, listen)
  return {
    first: promise,
    close() {
      for (const signal of stopSignals) options.signals.off(signal, listen)
    },
  }
}
