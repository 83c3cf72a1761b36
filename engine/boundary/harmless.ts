/** Owns which values may stand inside the operator's sentence: those too small to be a sentence of their own. */

const longest = 64

const number = /^-?\d+(?:\.\d+)?$/
const hexadecimal = /^[0-9a-f]+$/i
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const timestamp = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?$/
/** An id or a slug: runs of letters and digits, single marks between them, none at the ends. */
const slug = /^[A-Za-z0-9]+(?:[._/-][A-Za-z0-9]+)*$/

const longestSlug = 40
/** `ignore-all-previous-instructions` is a slug too; three words name things but hardly command. */
export const mostWords = 3
const word = /[A-Z]?[a-z]{2,}|[A-Z]{2,}/g
/** In `pi_3MtwBwLkdIwHu7ix28a3tqPa` chance makes short words, but hardly long ones. */
const wordAmongDigits = /[A-Z]?[a-z]{4,}|[A-Z]{5,}/g

/** Numbers, booleans, times, ids and short slugs. Anything that could speak to a model is not harmless. */
export function isHarmless(text: string): boolean {
  if (text.length === 0 || text.length > longest) return false
  if (number.test(text) || hexadecimal.test(text)) return true
  if (text.length <= longestSlug && slug.test(text) && countWords(text) <= mostWords) return true
  return uuid.test(text) || timestamp.test(text)
}

/** What any word has, asked first: a loop over a hostile list counts the words of tens of thousands of numbers. */
const twoLetters = /[a-z]{2}|[A-Z]{2}/

/** Words of an id hardly count: chance makes them. */
export function countWords(text: string): number {
  if (!twoLetters.test(text)) return 0
  let count = 0
  for (const part of text.split(/[._/-]/)) {
    count += part.match(/\d/.test(part) ? wordAmongDigits : word)?.length ?? 0
  }
  return count
}
