/**
 * Keeps a program from opening what a text from outside names. Agent programs read `@path` in a prompt as an order to add
 * that file, before any model has decided anything: claude 2.1 behind white space or a CJK full stop, gemini 0.61 anywhere.
 */

import type { Turn } from './runner.ts'

/**
 * No program reads `@` and a space as a reference. An invisible character in its place would be a part of the path, and
 * `@\u2060/../.env` is `.env` to whoever resolves it. The end of a line is no space, because JSON writes it as `\n`.
 */
function disarm(text: string): string {
  return text.replace(/@(?! )/g, '@ ')
}

/** A fence, to the end of the text if its end mark was cut off. Data holds no marks. */
const fences = /<outside-data id="([^"\n]*)">[\s\S]*?(?:<\/outside-data id="\1">|$)/g

function disarmFences(prompt: string): string {
  return prompt.replace(fences, disarm)
}

const note = '(A space was put behind each @ in the data from outside.)'

/**
 * Returns the turn with a space behind each `@` of a fence, of the history and of an event's text; a prompt with such a fence
 * ends with a sentence that says so. The operator's own words stay as they are, and may name files.
 */
export function disarmReferences(turn: Turn): Turn {
  const prompt = disarmFences(turn.prompt)
  return {
    ...turn,
    prompt: prompt === turn.prompt ? prompt : `${prompt}\n\n${note}`,
    history: turn.history.map((message) => ({ ...message, text: disarm(message.text) })),
    events: turn.events.map((event) => ({
      ...event,
      text: disarm(event.text),
      ...(event.prompt !== undefined && { prompt: disarmFences(event.prompt) }),
    })),
  }
}
