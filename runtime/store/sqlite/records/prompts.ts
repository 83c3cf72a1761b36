/**
 * Stores a text and the prompt that shows it without storing the text twice. The prompt holds the text unchanged, unless
 * something in it was neutralised: then the prompt is stored whole. It is read back as it was, unit by unit.
 */

import { columnOfText, textOfColumn } from '../database/rows.ts'

export interface PromptColumns {
  readonly text: string | Uint8Array
  /** The prompt without the text, or the whole prompt if there is no `text_at`. */
  readonly prompt: string | Uint8Array
  /** Where the text stands in the prompt, in UTF-16 units. */
  readonly text_at: number | null
}

export function columnsOfPrompt(
  text: string,
  prompt: string,
): readonly [text: PromptColumns['text'], prompt: PromptColumns['prompt'], textAt: PromptColumns['text_at']] {
  const at = prompt.indexOf(text)
  if (at === -1) return [columnOfText(text), columnOfText(prompt), null]
  return [columnOfText(text), columnOfText(prompt.slice(0, at) + prompt.slice(at + text.length)), at]
}

export function promptOf({ text, prompt, text_at: at }: PromptColumns): { text: string; prompt: string } {
  const [shown, rest] = [textOfColumn(text), textOfColumn(prompt)]
  return { text: shown, prompt: at === null ? rest : rest.slice(0, at) + shown + rest.slice(at) }
}
