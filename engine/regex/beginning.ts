/** Owns what a match can begin with, so that the rest of a text is passed over quickly. */

import { beginOfText } from './conditions.ts'
import { operation, type Program } from './library.ts'
import { takes } from './takes.ts'

interface Beginning {
  /** A match begins where the text does, and nowhere else. */
  readonly atTextOnly: boolean
  /** The next position at which a match may begin; nothing where there is none. */
  readonly skip: (text: string, position: number) => number | undefined
}

/** Of the other characters each may begin a match: asking costs more than trying. */
const asked = 256

export function readBeginning(program: Program): Beginning {
  const atTextOnly = firstInstructions(program, (conditions) => (conditions & beginOfText) === 0).length === 0
  const first = firstInstructions(program, () => true).map((at) => program.instructions[at])
  if (first.some((instruction) => instruction?.op === operation.match)) {
    return { atTextOnly, skip: (_text, position) => position }
  }
  const begins = Array.from({ length: asked }, (_, character) =>
    first.some((instruction) => instruction !== undefined && takes(instruction, character)),
  )
  return {
    atTextOnly,
    skip(text, position) {
      for (let at = position; at < text.length; at++) {
        const unit = text.charCodeAt(at)
        if (unit >= asked || begins[unit]) return at
      }
      return undefined
    },
  }
}

/** Those that take a character, or end a match, and that can be reached before any is taken. */
function firstInstructions(program: Program, passes: (conditions: number) => boolean): readonly number[] {
  const seen = new Set<number>()
  const first: number[] = []
  const waiting = [program.start]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const instruction = program.instructions[at]
    if (instruction === undefined || seen.has(at)) continue
    seen.add(at)
    const { op, out, arg } = instruction
    if (op === operation.either || op === operation.eitherMatch) waiting.push(out, arg)
    else if (op === operation.capture || op === operation.nothing) waiting.push(out)
    else if (op === operation.condition) {
      if (passes(arg)) waiting.push(out)
    } else if (op !== operation.fail) first.push(at)
  }
  return first
}
