/** Asks the person at the terminal. */

import * as clack from '@clack/prompts'
import type { Question } from '@reveille/kit'
import { failure } from './command-failure.ts'

export type Prompts = ReturnType<typeof terminalPrompts>

/** Each question throws CommandFailure when the person cancels with Ctrl-C. */
export function terminalPrompts() {
  return {
    begin: (title: string): void => clack.intro(title),
    /** Resolves with the empty text for an empty answer that has no fallback. */
    async text({ message, placeholder, fallback, validate }: Question): Promise<string> {
      const answer = await clack.text({
        message,
        ...(placeholder && { placeholder }),
        ...(fallback && { defaultValue: fallback }),
        ...checked(validate),
      })
      return answered(answer) ?? ''
    },
    /** Hides the answer while it is typed. A signal that is aborted ends the question, and its reason is thrown. */
    async secret({ message, validate }: Question, signal?: AbortSignal): Promise<string> {
      signal?.throwIfAborted()
      const isOver = () => signal?.aborted === true
      // This stands for Enter: the library's own signal would leave the question open on the screen.
      const end = () => process.stdin.emit('keypress', '', { name: 'return' })
      signal?.addEventListener('abort', end)
      try {
        const answer = await clack.password({
          message,
          ...checked((text) => (isOver() ? undefined : validate?.(text))),
        })
        signal?.throwIfAborted()
        return answered(answer) ?? ''
      } finally {
        signal?.removeEventListener('abort', end)
      }
    },
    choose: async (message: string, choices: readonly string[]): Promise<string> =>
      answered(await clack.select({ message, options: choices.map((value) => ({ value, label: value })) })),
    note: (text: string): void => clack.log.message(text),
    /** Writes lines beside the bar, with a mark of one character in the bar's place. */
    step: (symbol: string, text: string): void => clack.log.message(text, { symbol, spacing: 0 }),
    end: (text: string): void => clack.outro(text),
  }
}

function checked(validate: Question['validate']) {
  return validate === undefined ? {} : { validate: (answer: string | undefined) => validate(answer ?? '') }
}

function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (clack.isCancel(answer)) throw failure('Called off.')
  return answer as Exclude<Value, symbol>
}
