/** Merges several signals within a short time into one. */

/** A file that is written constantly must not hide all other changes, so the signal is passed on after this many pauses. */
const maxRests = 10

/** Calls `act` once `restMs` have passed without a signal, and at the latest ten times that after the first one. */
export function createDebounced(act: () => void, restMs: number) {
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
    /** Sets the pause for signals from now on, in milliseconds. */
    setRest(ms: number): void {
      restMs = ms
    },
    signal(): void {
      clearTimeout(rest)
      rest = setTimeout(run, restMs)
      longest ??= setTimeout(run, restMs * maxRests)
    },
  }
}
