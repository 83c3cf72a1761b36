/** Takes the power out of data that looks like our fence or like a chat template's control token. */

import { compileLookAlikeTest, fold } from './fold.ts'

/** The name of the fence's tag; see fence.ts. */
export const fenceName = 'outside-data'

/**
 * Written against folded text. Each alternative begins with the one character that is replaced: without it
 * neither a tokenizer nor a reader takes the rest for a mark. The gaps have no bound, as an attacker would go
 * beyond it; none of them can hold the character that begins its mark, so that hostile text costs linear time.
 */
const marks = new RegExp(
  [
    // Our own fence, opening or closing, however spaced.
    '<[^a-z0-9<]*outside[^a-z0-9<]*data',
    // <|im_start|>, <|eot_id|>, <|begin of sentence|>: the family of special tokens, opening and closing ends.
    '<\\s*\\|',
    '\\|\\s*>',
    // Llama and Mistral.
    '<<?[\\s/]*sys\\s*>',
    '\\[[\\s/]*(?:inst|system_prompt|available_tools|tool_calls|tool_results)\\s*\\]',
    '</?(?:s|bos|eos|unk|pad)>',
    // Gemma.
    '<[\\s/]*(?:start|end)_of_(?:turn|image|text)\\s*>',
    // Role and tool tags that several families give a meaning.
    '<[\\s/]*(?:system|assistant|tool_call|tool_response|function_calls|function_results|think)\\s*>',
    // The turns of a plain transcript. `System:` and `User:` stay: reports of bugs have lines that begin so.
    '(?:human|assistant)(?<=^[^\\S\\n]*(?:human|assistant))\\s*:',
  ].join('|'),
  'gim',
)

const suspicious = compileLookAlikeTest('<[|:')
const notPrintableAscii = /[^\t-\r\x20-\x7e]/

/** Not even a look-alike of what they replace, so that neutralised text holds no mark by any reading. */
const replacements: Readonly<Record<string, string>> = { '<': '(', '[': '(', '|': '!' }

/** The text with every look-alike's first character exchanged for a powerless one, or one put before it. */
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

/** In folded form, so that nothing invisible or disguised is left inside the mark. */
function disarm(mark: string): string {
  const disarmed = mark.replace(/[<[|]/g, (character) => replacements[character] ?? character)
  return disarmed === mark ? `(${mark}` : disarmed
}
