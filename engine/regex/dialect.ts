/** Describes what the library does not accept, with the place and the alternative. */

import { RegexSyntaxError } from './errors.ts'

const linear = 'Matching takes time in proportion to the text here, and that rules it out.'

/** Advice for what is found in the library's error, which ends with the part of the source that it is about. */
const advice: readonly (readonly [find: RegExp, hint: string, message?: string])[] = [
  [
    /: \(\?<?=/,
    `${linear} Take what it looks for into the match, and use a group for the rest.`,
    'lookahead and lookbehind are not supported',
  ],
  [
    /: \(\?<?!/,
    `${linear} Test for what may not be there with a second expression.`,
    'lookahead and lookbehind are not supported',
  ],
  [
    /: \(\?>/,
    'Write (?:…): there is no backtracking here, so that it would change nothing.',
    'an atomic group is not supported',
  ],
  [/: \\[1-9k]/, linear, 'a backreference is not supported'],
  [/: \\[a-z]/i, 'Write it without the \\ for the character itself.'],
  [
    /nested repetition/,
    'Possessive ones, as a++ is, are not supported; to repeat twice, write (?:a+)+.',
    'a repetition is repeated',
  ],
  [/repeat count/, 'All counts that hold one another give 1000 at most.'],
  [/missing argument/, 'Write \\*, \\+ or \\? for the character itself.'],
  [/class range/, 'Ranges go up, as a-z does; write \\- for the character itself.'],
  [/closing|unexpected|trailing/, 'Write a \\ before it for the character itself.'],
  [/too large/, 'Count less with {…}.'],
]

/** Escapes with a meaning, and a letter or digit after a backslash that has none and that the library would take for itself. */
const escapes =
  /\\(?:[^\dA-Za-z]|[dDsSwWbBAznrtfvaQEpP0]|x[\dA-Fa-f]{2}|[xu]\{[\dA-Fa-f]+\}|u[\dA-Fa-f]{4}|c[A-Za-z])|(\\[\dA-Za-z])/g

/** @throws RegexSyntaxError */
export function checkEscapes(source: string): void {
  for (const { 1: unknown, index } of source.matchAll(escapes))
    if (unknown !== undefined) throw problemAt(index, 'invalid escape sequence', unknown)
}

/** Turns an error of the library into one of ours, with the place of the mistake. */
export function readLibraryError(cause: unknown, source: string): RegexSyntaxError {
  const { error, input } = cause as { readonly error?: string; readonly input?: string | null }
  if (error === undefined)
    return new RegexSyntaxError('the regular expression cannot be read', 0, undefined, { cause })
  return problemAt(Math.max(0, source.indexOf(input ?? '')), error, input ?? '', cause)
}

function problemAt(offset: number, error: string, input: string, cause?: unknown): RegexSyntaxError {
  const written = `${error}: ${input.slice(0, 40)}`
  const [, hint, message = written] = advice.find(([find]) => find.test(written)) ?? []
  return new RegexSyntaxError(message, offset, hint, { cause })
}
