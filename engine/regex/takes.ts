/** Owns whether an instruction takes a character. */

import { type Instruction, operation } from './library.ts'

export function takes(instruction: Instruction, character: number): boolean {
  switch (instruction.op) {
    case operation.characters:
      return instruction.matchRune(character)
    case operation.character:
      return instruction.runes[0] === character
    case operation.any:
      return true
    case operation.anyButNewline:
      return character !== 10
    default:
      return false
  }
}
