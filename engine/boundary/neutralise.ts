/** Owns taking the power out of data that looks like our fence or like a chat template's control token. */

import { compileLookAlikeTest, fold } from './fold.ts'

/** The name of the fence's tag; see fence.ts. */
export const fenceName = 'outside-data'

/**
 * Written against folded text. Each alternative begins with the one character that is replaced: without it
 * neither a tokenizer nor a reader takes the rest for a mark. The quantifiers are bounded, so that hostile
 * text costs linear time.
 */
const marks = new RegExp(
  [
    // Our own fence, opening or closing, however spaced.
    '<[\\s/]{0,8}outside[\\s_-]{0,4}data',
    // <|im_start|>, <|eot_id|>, <|begin of sentence|>: the family of special tokens, opening and closing ends.
    '<\\s{0,4}\\|',
    '\\|\\s{0,4}>',
    // Llama and Mistral.
    '<{1,2}/?\\s{0,4}sys>',
    '\\[\\s{0,4}/?\\s{0,4}(?:inst|system_prompt|available_tools|tool_calls|tool_results)\\s{0,4}\\]',
    '</?(?:s|bos|eos|unk|pad)>',
    // Gemma.
    '<\\s{0,4}/?\\s{0,4}(?:start|end)_of_(?:turn|image|text)>',
    // Role and tool tags that several families give a meaning.
    '<\\s{0,4}/?\\s{0,4}(?:system|assistant|tool_call|tool_response|function_calls|function_results|think)\\s{0,4}>',
  ].join('|'),
  'gi',
)

const suspicious = compileLookAlikeTest('<[|')
const notAscii = /[\u0080-\uffff]/

/** Not even a look-alike of what they replace, so that neutralised text holds no mark by any reading. */
const replacements: Readonly<Record<string, string>> = { '<': '(', '[': '(', '|': '!' }

/** The text with every look-alike's first character exchanged for a powerless one; most texts come back as they are. */
export function neutralise(text: string): string {
  if (!suspicious.test(text)) return text
  if (!notAscii.test(text)) return text.replace(marks, disarm)
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
  return mark.replace(/[<[|]/g, (character) => replacements[character] ?? character)
}
