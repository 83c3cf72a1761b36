/** Owns going from an instruction to all that can be reached without taking a character, the preferred first. */

import { type Instruction, operation } from './library.ts'
import type { Threads } from './threads.ts'

/** Adds them to the threads, with what is captured on the way, and gives the number of steps. */
type Follow = (
  threads: Threads,
  from: number,
  position: number,
  /** Of the thread that comes here, from `offset` on. */
  captures: Int32Array,
  offset: number,
  conditions: number,
) => number

/** `width`: how many bounds are captured. */
export function createFollow(instructions: readonly Instruction[], width: number): Follow {
  const ops = Int32Array.from(instructions, ({ op }) => op)
  const outs = Int32Array.from(instructions, ({ out }) => out)
  const args = Int32Array.from(instructions, ({ arg }) => arg)
  const captured = new Int32Array(width)
  /** Instructions to go on with; a negative number is a capture to put back first, and its value stands below it. */
  const waiting = new Int32Array(2 * instructions.length + 2)

  return (threads, from, position, captures, offset, conditions) => {
    const { list, reached, round } = threads
    for (let slot = 0; slot < width; slot++) captured[slot] = captures[offset + slot] as number
    let steps = 0
    let depth = 0
    waiting[depth++] = from
    while (depth > 0) {
      let at = waiting[--depth] as number
      if (at < 0) {
        captured[-at - 1] = waiting[--depth] as number
        continue
      }
      while (reached[at] !== round) {
        reached[at] = round
        steps += 1
        const op = ops[at] as number
        const arg = args[at] as number
        if (op === operation.either || op === operation.eitherMatch) {
          waiting[depth++] = arg
        } else if (op === operation.capture) {
          if (arg < width) {
            waiting[depth++] = captured[arg] as number
            waiting[depth++] = -arg - 1
            captured[arg] = position
          }
        } else if (op === operation.condition) {
          if ((arg & ~conditions) !== 0) break
        } else if (op !== operation.nothing) {
          if (op === operation.fail) break
          const { size } = threads
          list[size] = at
          for (let slot = 0, to = size * width; slot < width; slot++, to++)
            threads.captures[to] = captured[slot] as number
          threads.size = size + 1
          break
        }
        at = outs[at] as number
      }
    }
    return steps
  }
}
