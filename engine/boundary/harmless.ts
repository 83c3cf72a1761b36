/** Decides which values may stay inside the operator's sentence, because they are too short to be a sentence themselves. */

const maxLength = 64

const number = /^(?:-?\d+(?:\.\d+)?|true|false)$/
const timestamp = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?$/
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** A hash, or an id made of one, such as `i-0abc123456`. */
const hexadecimal = /^(?:[a-z]{1,6}[_-](?=.{8}))?(?=[a-f]*\d)[0-9a-f]{7,}$/i
/** GitHub's ids of advisories have no vowels, so they spell no words. */
const advisory = /^GHSA(?:-[2-9cfghjmpqrvwx]{4}){3}$/
/** `pi_3MtwBwLkdIwHu7ix28a3tqPa`: a short prefix, then many letters of both cases and digits. */
const randomId = /^(?:[a-z]{1,8}_){1,2}(?=.*\d)(?=.*[a-z])(?=.*[A-Z])([A-Za-z0-9]{14,})$/
/** Runs of letters and digits with single marks between them, and none at the ends. */
const slug = /^[A-Za-z0-9]+(?:[._/-][A-Za-z0-9]+)*$/
const ownerAndRepository = /^[^/]+\/[^/]+$/

const maxSlugLength = 24
const maxRepositoryLength = 32
/** `approve-and-merge` is a slug too; two words name things but are hardly an order. */
const maxWords = 2
/** The limit for `owner/repository`, and for values side by side. */
export const maxWordsTogether = 3
const maxWordLength = 16

/** The share of a random id's letters that may form words of four letters and more by chance. */
const maxWordLetters = 0.7

/** Matches the name of a field that people write sentences into, by its last word. */
const freeText =
  /(?:^|[^a-z])(?:titles?|subtitles?|headlines?|descriptions?|subjects?|bod(?:y|ies)|texts?|messages?|comments?|summary|summaries|contents?|notes?|snippets?|captions?|excerpts?|questions?|answers?|prompts?|instructions?)$/

/**
 * Numbers, booleans, times, ids and short slugs are harmless. Anything that could instruct a model is not. `path` is where the
 * value stood, such as `pull_request.title`; of a field for free text only numbers and times are harmless.
 */
export function isHarmless(text: string, path = ''): boolean {
  return countHarmlessWords(text, path) !== undefined
}

/** Counts the words that a model might read in a harmless value. Returns undefined where the value is not harmless. */
export function countHarmlessWords(text: string, path: string): number | undefined {
  if (text.length === 0 || text.length > maxLength) return undefined
  if (number.test(text) || timestamp.test(text)) return 0
  if (!slug.test(text)) return undefined
  const words = isId(text) ? 0 : countSlugWords(text.replace(/^refs\/(?:heads|tags)\//, ''))
  return words === undefined || isFreeText(path) ? undefined : words
}

/** True if the text is an id, in which no words can be read. */
function isId(text: string): boolean {
  return hexadecimal.test(text) || uuid.test(text) || advisory.test(text) || isRandomId(text)
}

/** Short words occur by chance; `x_Ign0reAllPrev10usRul3s` consists of long ones. */
function isRandomId(text: string): boolean {
  const tail = randomId.exec(text)?.[1]
  if (tail === undefined) return false
  const words = wordsOf(tail).filter((word) => word.length >= 4)
  return words.join('').length <= maxWordLetters * tail.length
}

/** Returns undefined where the slug has too many words, or too long ones. */
function countSlugWords(text: string): number | undefined {
  const isPair = ownerAndRepository.test(text)
  if (text.length > (isPair ? maxRepositoryLength : maxSlugLength)) return undefined
  const words = wordsOf(text)
  const isShort = words.length <= (isPair ? maxWordsTogether : maxWords)
  return isShort && words.every((word) => word.length <= maxWordLength) ? words.length : undefined
}

const word = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g

/** Words are runs of letters, and of digits that replace letters: `m3rge` is a word. */
function wordsOf(text: string): readonly string[] {
  if (!/\d/.test(text)) return text.match(word) ?? []
  return text.split(/[._/-]/).flatMap((part) => {
    if (!/[A-Za-z]/.test(part)) return []
    const digit = /[a-z]/.test(part) ? 'o' : 'O'
    return part.replace(/\d/g, digit).match(word) ?? []
  })
}

const lastName = /[A-Za-z_-]+(?=[^A-Za-z_-]*$)/

/** `commit_message`, `bodyText` and `comments.3` are as free as `text`. */
function isFreeText(path: string): boolean {
  // The name mostly follows the last dot, where it is found in half the time.
  const name = (lastName.exec(path.slice(path.lastIndexOf('.') + 1)) ?? lastName.exec(path))?.[0] ?? ''
  return freeText.test(name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase())
}
