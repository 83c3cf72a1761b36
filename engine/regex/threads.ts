/** Owns the list of the ways to match that are followed side by side, in the order of preference. */

/** Plain arrays and numbers: this is read and written for each character of a text. */
export interface Threads {
  size: number
  /** At which instruction each is. */
  readonly list: Int32Array
  /** What each has captured, one after the other. */
  readonly captures: Int32Array
  /** In which round an instruction was last reached; a less preferred way to the same place is not followed. */
  readonly reached: Int32Array
  round: number
}

export function createThreads(instructions: number, width: number): Threads {
  return {
    size: 0,
    list: new Int32Array(instructions),
    captures: new Int32Array(instructions * width),
    reached: new Int32Array(instructions),
    round: 1,
  }
}

const lastRound = 2 ** 31 - 2

export function clearThreads(threads: Threads): void {
  threads.size = 0
  threads.round += 1
  if (threads.round < lastRound) return
  threads.reached.fill(0)
  threads.round = 1
}
