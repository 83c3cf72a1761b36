/** Disarms data that looks like our fence or like a control token of a chat template. */

import { compileLookAlikeTest, fold } from './fold.ts'

/** The name of the fence's tag. */
export const fenceName = 'outside-data'

/**
 * The pattern is for folded text. Each alternative begins with the one character that is replaced: without it neither a
 * tokenizer nor a reader takes the rest for a mark. The gaps have no limit, because an attacker would exceed it. No gap can
 * hold the character that begins its mark, so that hostile text costs linear time.
 */
const marks = new RegExp(
  [
    // These are our own fence, opening or closing, with any spacing. Brackets before it go with it: what replaces the last
    // would otherwise be in the gap of the one before. The search begins at the first, so that it stays linear.
    '(?<!<[^a-z0-9<]*)(?:<[^a-z0-9<]*)+outside[^a-z0-9<]*data',
    // These are the ends of special tokens: <|im_start|>, <|eot_id|>, <|begin of sentence|>.
    '<\\s*\\|',
    '\\|\\s*>',
    // These are marks of Llama and Mistral.
    '<<?[\\s/]*sys\\s*>',
    '\\[[\\s/]*(?:inst|system_prompt|available_tools|tool_calls|tool_results)\\s*\\]',
    '</?(?:s|bos|eos|unk|pad)>',
    // These are marks of Gemma.
    '<[\\s/]*(?:start|end)_of_(?:turn|image|text)\\s*>',
    // These tags for roles and tools have a meaning in several model families.
    '<[\\s/]*(?:system|assistant|tool_call|tool_response|function_calls|function_results|think)\\s*>',
    // These are the speakers of a plain transcript. `System:` and `User:` stay, because bug reports have such lines.
    '(?:human|assistant)(?<=^[^\\S\\n]*(?:human|assistant))\\s*:',
  ].join('|'),
  'gim',
)

const suspicious = compileLookAlikeTest('<[|:')
const notPrintableAscii = /[^\t-\r\x20-\x7e]/

/** The replacements do not even look like what they replace, so that no reading of neutralised text holds a mark. */
const replacements: Readonly<Record<string, string>> = { '<': '(', '[': '(', '|': '!' }

/** Returns the text with the first character of every mark replaced by a harmless one, or with one put before it. */
export function neutralise(text: string): string {
  if (!suspicious.test(text)) return text
  if (!notPrintableAscii.test(text)) return text.replace(marks, disarm)
  const folded = fold(text)
  let result = ''
  let done = 0
  for (const match of folded.text.matchAll(marks)) {
    const start = folded.origin[match.index] ?? 0
    result += text.slice(done, start) + disarm(match[0])
    done = folded.origin[match.index + match[0].length] ?? text.length
  }
  return result + text.slice(done)
}

/** The mark is written in folded form, so that nothing invisible or disguised is left inside of it. */
function disarm(mark: string): string {
  const disarmed = mark.replace(/[<[|]/g, (character) => replacements[character] ?? character)
  return disarmed === mark ? `(${mark}` : disarmed
}
