/** Finds syntax that the library does not accept, and reports its place with the alternative. */

import { RegexSyntaxError } from './errors.ts'

const linear = 'Matching takes time in proportion to the text here, and that rules it out.'

/** The syntax after `(?`, the longer first. */
const groups: readonly (readonly [string, string, string])[] = [
  ['<=', 'lookbehind', `${linear} Take what comes before into the match, and use a group for the rest.`],
  ['<!', 'lookbehind', `${linear} Test for what may not be there with a second expression.`],
  ['=', 'lookahead', `${linear} Take what follows into the match, and use a group for the rest.`],
  ['!', 'lookahead', `${linear} Test for what may not follow with a second expression.`],
  ['>', 'an atomic group', 'Write (?:…): there is no backtracking here, so that it would change nothing.'],
  ['P=', 'a backreference', linear],
  ['P>', 'recursion', linear],
  ['(', 'a condition', linear],
  ['&', 'recursion', linear],
  ['R', 'recursion', linear],
  ['#', 'a comment', 'Leave it out.'],
]

/** The letters with a meaning after a backslash. */
const escapes = /^[dDsSwWbBAznrtfvaQEpP0]/
const hexadecimal = /^(?:x[\da-f]{2}|x\{[\da-f]+\}|u[\da-f]{4}|u\{[\da-f]+\}|c[a-z])/i

/** @throws RegexSyntaxError */
export function checkDialect(source: string): void {
  const open: number[] = []
  let classStart = -1
  for (let at = 0; at < source.length; at++) {
    const character = source[at]
    if (character === '\\') {
      checkEscape(source, at, classStart !== -1)
      at += 1
    } else if (classStart !== -1) {
      if (source.startsWith('[:', at)) at = Math.max(at, source.indexOf(':]', at) + 1)
      else if (character === ']') classStart = -1
    } else if (character === '[') {
      classStart = at
      // The library reads these two as a whole.
      if (source.startsWith('[]', at) || source.startsWith('[^]', at)) {
        at = source.indexOf(']', at)
        classStart = -1
      }
    } else if (character === '(') {
      checkGroup(source, at)
      open.push(at)
    } else if (character === ')' && open.pop() === undefined) {
      throw new RegexSyntaxError('a ) closes nothing', at, 'Write \\) for the character itself.')
    }
  }
  const [unclosed] = open
  if (classStart !== -1)
    throw new RegexSyntaxError('a [ is not closed', classStart, 'Write \\[ for the character itself.')
  if (unclosed !== undefined)
    throw new RegexSyntaxError('a ( is not closed', unclosed, 'Write \\( for the character itself.')
}

function checkGroup(source: string, at: number): void {
  if (source[at + 1] !== '?') return
  for (const [mark, what, hint] of groups) {
    if (source.startsWith(mark, at + 2)) throw new RegexSyntaxError(`${what} is not supported`, at, hint)
  }
}

function checkEscape(source: string, at: number, inClass: boolean): void {
  const rest = source.slice(at + 1, at + 12)
  const [letter = ''] = rest
  if (letter === '') {
    throw new RegexSyntaxError('the pattern ends with a \\', at, 'Write \\\\ for the character itself.')
  }
  if ((!inClass && /^[1-9]/.test(letter)) || /^k[<{']/.test(rest)) {
    throw new RegexSyntaxError('a backreference is not supported', at, linear)
  }
  if (!/^[\da-z]/i.test(letter) || escapes.test(letter) || hexadecimal.test(rest) || inClass) return
  const hint = `Write ${letter} for the character itself.`
  throw new RegexSyntaxError(`\\${letter} has no meaning here`, at, hint)
}

/** Maps the library's messages to ours, with advice. */
const sentences: Readonly<Record<string, readonly [string, string?]>> = {
  'invalid character class range': [
    'the range in […] cannot be read',
    'Ranges go up, as a-z does; write \\- for the character itself.',
  ],
  'invalid escape sequence': ['a \\ precedes a character that has no meaning here'],
  'invalid named capture': [
    'the name of a group cannot be read',
    'Names are letters, digits and _: (?<name>…).',
  ],
  'duplicate capture group name': ['two groups have one name'],
  'invalid or unsupported Perl syntax': ['a (? precedes a character that has no meaning here'],
  'invalid nested repetition operator': [
    'a repetition is repeated',
    'Possessive ones, as a++ is, are not supported; to repeat twice, write (?:a+)+.',
  ],
  'invalid repeat count': [
    'the count in {…} is not possible',
    'All counts that hold one another give 1000 at most.',
  ],
  'missing argument to repetition operator': [
    'a repetition has nothing to repeat',
    'Write \\*, \\+ or \\? for the character itself.',
  ],
  'expression nests too deeply': ['the expression nests too deeply'],
  'expression too large': ['the regular expression is too large', 'Count less with {…}.'],
}

/** Turns an error of the library into one of ours, with the place of the mistake. */
export function readLibraryError(cause: unknown, source: string): RegexSyntaxError {
  const { error, input } = (cause ?? {}) as { readonly error?: unknown; readonly input?: unknown }
  const sentence = typeof error === 'string' ? sentences[error] : undefined
  const [message, hint] = sentence ?? ['the regular expression cannot be read']
  const offset = typeof input === 'string' ? Math.max(0, source.indexOf(input)) : 0
  return new RegexSyntaxError(message, offset, hint, { cause })
}
