/** Owns whether there is a match at all, which an automaton tells at a few nanoseconds for each character. */

import { conditionsAt } from './conditions.ts'
import type { Automaton, AutomatonInput, Program } from './library.ts'

/**
 * For the states of one expression, which are kept from text to text. Making as many takes some 5 ms, and a text may
 * make the automaton forget them and begin again once: there are expressions for which it would do nothing else.
 */
const stateBytes = 98_304

const unanchored = 0
const endOfText = -8

/** Thrown out of the library's loop, which cannot be told to stop. */
const gaveUp = Symbol('gave up')

/** Whether a match begins at `from` or after it; nothing where it would take too many states to tell. */
export function createExistence(program: Program): (text: string, from: number) => boolean | undefined {
  let search: ((text: string, from: number) => boolean | undefined) | undefined
  return (text, from) => {
    search ??= createAutomaton(program.automaton())
    return search(text, from)
  }
}

function createAutomaton(automaton: Automaton): (text: string, from: number) => boolean | undefined {
  automaton.stateBudget = stateBytes
  automaton.memBudget = stateBytes
  return (text, from) => {
    try {
      return automaton.match(watched(automaton, text), from, unanchored) ?? undefined
    } catch (error) {
      if (error !== gaveUp) throw error
      return undefined
    }
  }
}

/** The text, and a watch on how often the states were forgotten while it was read. */
function watched(automaton: Automaton, text: string): AutomatonInput {
  let left = automaton.memBudget
  let forgotten = 0
  return {
    step(position) {
      if (automaton.memBudget > left) {
        forgotten += 1
        if (forgotten > 1) throw gaveUp
      }
      left = automaton.memBudget
      const character = text.codePointAt(position)
      if (character === undefined) return endOfText
      return (character << 3) | (character > 0xffff ? 2 : 1)
    },
    endPos: () => text.length,
    context: (position) => conditionsAt(text, position),
  }
}
