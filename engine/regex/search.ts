/**
 * Owns where the first match is and what its groups took: all ways to match are followed side by side, character by
 * character, the preferred ones first, so that no text takes more steps than its length times the expression's.
 */

import { readBeginning } from './beginning.ts'
import { conditionsAt } from './conditions.ts'
import { RegexLimitError } from './errors.ts'
import { createFollow } from './follow.ts'
import { type Instruction, operation, type Program } from './library.ts'
import { takes } from './takes.ts'
import { clearThreads, createThreads } from './threads.ts'

/** Some 10 ms. */
const mostSteps = 300_000

/** Where the match and each group begin and end, -1 for a group that took no part. @throws RegexLimitError */
export type Search = (text: string, from: number) => Int32Array | undefined

/** Makes nothing before the first text: most expressions are only asked whether they match. */
export function createSearch(program: Program): Search {
  let search: Search | undefined
  return (text, from) => {
    search ??= createMachine(program)
    return search(text, from)
  }
}

function createMachine(program: Program): Search {
  const { instructions, start } = program
  const width = 2 * (program.groupCount + 1)
  const beginning = readBeginning(program)
  const follow = createFollow(instructions, width)
  const asks = instructions.some(({ op }) => op === operation.condition)
  // Searching awaits nothing, so the lists serve every search.
  let current = createThreads(program.size, width)
  let next = createThreads(program.size, width)

  return (text, from) => {
    const nothing = new Int32Array(width).fill(-1)
    let found: Int32Array | undefined
    let position = from
    let steps = 0
    clearThreads(current)
    for (;;) {
      if (current.size === 0) {
        if (found !== undefined || (beginning.atTextOnly && position > 0)) return found
        const skipped = beginning.skip(text, position)
        if (skipped === undefined) return undefined
        steps += (skipped - position) >> 4
        position = skipped
      }
      if (found === undefined) {
        nothing[0] = position
        steps += follow(current, start, position, nothing, 0, asks ? conditionsAt(text, position) : 0)
      }

      const character = text.codePointAt(position) ?? -1
      const after = position + (character > 0xffff ? 2 : 1)
      const conditions = asks && character !== -1 ? conditionsAt(text, after) : 0
      clearThreads(next)
      steps += current.size
      for (let index = 0; index < current.size; index++) {
        const instruction = instructions[current.list[index] as number] as Instruction
        if (instruction.op === operation.match) {
          found = current.captures.slice(index * width, (index + 1) * width)
          found[1] = position
          // The others are less preferred.
          break
        }
        if (character !== -1 && takes(instruction, character))
          steps += follow(next, instruction.out, after, current.captures, index * width, conditions)
      }
      if (steps > mostSteps)
        throw new RegexLimitError('the regular expression takes too many steps for a text of that length')
      if (character === -1) return found
      const emptied = current
      current = next
      next = emptied
      position = after
    }
  }
}
