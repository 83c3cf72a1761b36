/** Owns questions to the person at the terminal. */

import { styleText } from 'node:util'
import * as clack from '@clack/prompts'
import { wrapWords } from '../observe/wrap-words.ts'
import { CommandFailure } from './command-failure.ts'

export interface Question {
  readonly message: string
  /** Shown while nothing is typed. */
  readonly placeholder?: string
  /** What an empty answer means. */
  readonly fallback?: string
  /** Why an answer is not good, in one sentence; undefined where it is. */
  validate?(answer: string): string | undefined
}

/** Each throws CommandFailure when the person calls it off (Ctrl-C). */
export interface Prompts {
  begin(title: string): void
  /** An empty answer is the empty text, unless it has a meaning. */
  text(question: Question): Promise<string>
  /** Not shown while it is typed. Where the signal is aborted first, its reason is thrown and nobody is asked any more. */
  secret(question: Question, signal?: AbortSignal): Promise<string>
  choose(message: string, choices: readonly string[]): Promise<string>
  /** Something that takes a moment; what it ends with is told in its place. */
  during<Value>(message: string, work: () => Promise<Value>, tell: (value: Value) => string): Promise<Value>
  note(text: string): void
  /** Lines beside the bar, with a mark of one character in its place; the next step stands right below. */
  step(mark: string, text: string): void
  end(text: string): void
}

export function terminalPrompts(): Prompts {
  let isAfterStep = false
  return {
    begin: (title) => clack.intro(title),
    async text({ message, placeholder, fallback, validate }) {
      isAfterStep = false
      const answer = await clack.text({
        message: besideBar(message),
        ...(placeholder && { placeholder }),
        ...(fallback && { defaultValue: fallback }),
        ...checked(validate),
      })
      return answered(answer) ?? ''
    },
    async secret({ message, validate }, signal) {
      isAfterStep = false
      signal?.throwIfAborted()
      const isOver = () => signal?.aborted === true
      // As if Enter had been pressed: the library's own signal leaves the question there as one that waits.
      const end = () => process.stdin.emit('keypress', '', { name: 'return' })
      signal?.addEventListener('abort', end)
      try {
        const answer = await clack.password({
          message: besideBar(message),
          ...checked((text) => (isOver() ? undefined : validate?.(text))),
        })
        signal?.throwIfAborted()
        return answered(answer) ?? ''
      } finally {
        signal?.removeEventListener('abort', end)
      }
    },
    choose: async (message, choices) =>
      answered(await clack.select({ message, options: choices.map((value) => ({ value, label: value })) })),
    async during(message, work, tell) {
      const spinner = clack.spinner()
      spinner.start(message)
      try {
        const value = await work()
        spinner.stop(besideBar(tell(value)))
        return value
      } catch (error) {
        spinner.error(message)
        throw error
      }
    },
    note(text) {
      isAfterStep = false
      clack.log.message(folded(text).join('\n'))
    },
    step(symbol, text) {
      clack.log.message(text, { symbol, spacing: isAfterStep ? 0 : 1 })
      isAfterStep = true
    },
    end: (text) => clack.outro(text),
  }
}

/** Of the bar at the left and of the space after it. */
const margin = 3
/** Of a terminal that does not say how wide it is. */
const usualWidth = 80

/** The library lets long questions run out below its bar. */
function besideBar(text: string): string {
  return folded(text).join(`\n${styleText('gray', clack.S_BAR)}  `)
}

function folded(text: string): string[] {
  return wrapWords(text, (process.stdout.columns || usualWidth) - margin)
}

function checked(validate: Question['validate']) {
  if (validate === undefined) return {}
  return {
    validate(answer: string | undefined) {
      const complaint = validate(answer ?? '')
      return complaint === undefined ? undefined : folded(complaint).join(`\n${' '.repeat(margin)}`)
    },
  }
}

function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (clack.isCancel(answer)) throw new CommandFailure(1, 'Called off; nothing was written.')
  return answer as Exclude<Value, symbol>
}
