/** Owns the one use of the RE2 port: it reads an expression and compiles it; the searching is ours. */

import { RE2JS } from 're2js'
import type { RegexOptions } from './regex.ts'

/** What the library calls its instructions; a test holds that it still does. */
export const operation = {
  either: 1,
  eitherMatch: 2,
  capture: 3,
  condition: 4,
  fail: 5,
  match: 6,
  nothing: 7,
  characters: 8,
  character: 9,
  any: 10,
  anyButNewline: 11,
} as const

export interface Instruction {
  readonly op: number
  /** The next instruction. */
  readonly out: number
  /** The other instruction of `either`, the number of `capture`, the flags of `condition`. */
  readonly arg: number
  /** The one that `character` takes. */
  readonly runes: ArrayLike<number>
  readonly matchRune: (character: number) => boolean
}

/** The library's automaton, whose states are made as a text needs them. */
export interface Automaton {
  /** Memory for states that is left, and that there is at the beginning; when none is left it forgets all of them. */
  memBudget: number
  stateBudget: number
  /** Nothing where it gave up. */
  match(input: AutomatonInput, position: number, anchor: number): boolean | null
}

/** A text as the automaton reads it. */
export interface AutomatonInput {
  /** The character there times eight, plus its length in UTF-16 units. */
  step(position: number): number
  endPos(): number
  /** Which conditions hold between the character before and the one there. */
  context(position: number): number
}

export interface Program {
  readonly instructions: readonly Instruction[]
  readonly start: number
  readonly size: number
  readonly groupCount: number
  readonly automaton: () => Automaton
}

/** @throws what the library throws */
export function compileWithLibrary(source: string, { ignoreCase, multiline }: RegexOptions): Program {
  const flags =
    (ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0) | (multiline === true ? RE2JS.MULTILINE : 0)
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags)
  const { prog } = compiled.re2()
  return {
    instructions: prog.inst as readonly Instruction[],
    start: prog.start,
    size: compiled.programSize(),
    groupCount: compiled.groupCount(),
    automaton: () => compiled.re2().dfa as Automaton,
  }
}
