/** Makes one signal of many in a short time. */

/** A file that is written without pause must not hide all other changes: after so many pauses the signal is passed on anyway. */
const mostRests = 10

/** Calls `act` once `restMs` have passed without a signal, and at the latest ten times that after the first one. */
export function createCoalesced(act: () => void, restMs: number) {
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
    /** For signals from now on, in milliseconds. */
    setRest(ms: number): void {
      restMs = ms
    },
    signal(): void {
      clearTimeout(rest)
      rest = setTimeout(run, restMs)
      longest ??= setTimeout(run, restMs * mostRests)
    },
  }
}
