/** Owns coalescing: many signals in a short time become one. */

export interface Coalesced {
  signal(): void
  cancel(): void
}

/**
 * Calls `act` once `restMs` have passed without a signal, and at the latest `longestMs` after the first one:
 * a file that is written without pause must not hide all other changes.
 */
export function createCoalesced(act: () => void, restMs: number, longestMs = restMs * 10): Coalesced {
  let rest: NodeJS.Timeout | undefined
  let longest: NodeJS.Timeout | undefined

  function cancel(): void {
    clearTimeout(rest)
    clearTimeout(longest)
    rest = undefined
    longest = undefined
  }

  function run(): void {
    cancel()
    act()
  }

  return {
    cancel,
    signal() {
      clearTimeout(rest)
      rest = setTimeout(run, restMs)
      longest ??= setTimeout(run, longestMs)
    },
  }
}
