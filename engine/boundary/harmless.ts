/** Decides which values may stand inside the operator's sentence: those too small to be a sentence of their own. */

const longest = 64

const number = /^(?:-?\d+(?:\.\d+)?|true|false)$/
const timestamp = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?$/
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** A hash, or an id made of one, as `i-0abc123456`. */
const hexadecimal = /^(?:[a-z]{1,6}[_-](?=.{8}))?(?=[a-f]*\d)[0-9a-f]{7,}$/i
/** GitHub's ids of advisories use no vowels, so they spell nothing. */
const advisory = /^GHSA(?:-[2-9cfghjmpqrvwx]{4}){3}$/
/** `pi_3MtwBwLkdIwHu7ix28a3tqPa`: a short prefix, then many letters of both cases and digits. */
const randomId = /^(?:[a-z]{1,8}_){1,2}(?=.*\d)(?=.*[a-z])(?=.*[A-Z])([A-Za-z0-9]{14,})$/
/** Runs of letters and digits, single marks between them, none at the ends. */
const slug = /^[A-Za-z0-9]+(?:[._/-][A-Za-z0-9]+)*$/
const ownerAndRepository = /^[^/]+\/[^/]+$/

const longestSlug = 24
const longestRepository = 32
/** `approve-and-merge` is a slug too; two words name things but hardly command. */
const mostWords = 2
/** Of `owner/repository`, and of values that stand side by side. */
export const mostWordsTogether = 3
const longestWord = 16

/** Of the letters of a random id, the share that may read as words of four and more, by chance. */
const mostSpoken = 0.7

/** The last word of a field's name, where it says that people write sentences into it. */
const freeText =
  /(?:^|[^a-z])(?:titles?|subtitles?|headlines?|descriptions?|subjects?|bod(?:y|ies)|texts?|messages?|comments?|summary|summaries|contents?|notes?|snippets?|captions?|excerpts?|questions?|answers?|prompts?|instructions?)$/

/**
 * Numbers, booleans, times, ids and short slugs. Anything that could speak to a model is not harmless.
 * `path`: where the value stood, as in `pull_request.title`. A field for free text shows numbers and times only.
 */
export function isHarmless(text: string, path = ''): boolean {
  return countHarmlessWords(text, path) !== undefined
}

/** How many words a model might read in a harmless value; undefined for a value that is not harmless. */
export function countHarmlessWords(text: string, path: string): number | undefined {
  if (text.length === 0 || text.length > longest) return undefined
  if (number.test(text) || timestamp.test(text)) return 0
  if (!slug.test(text)) return undefined
  const words = isId(text) ? 0 : countSlugWords(text.replace(/^refs\/(?:heads|tags)\//, ''))
  return words === undefined || isFreeText(path) ? undefined : words
}

/** What no words can be read in. */
function isId(text: string): boolean {
  return hexadecimal.test(text) || uuid.test(text) || advisory.test(text) || isRandomId(text)
}

/** Chance makes short words. `x_Ign0reAllPrev10usRul3s` is made of long ones. */
function isRandomId(text: string): boolean {
  const tail = randomId.exec(text)?.[1]
  if (tail === undefined) return false
  const spoken = wordsOf(tail).filter((word) => word.length >= 4)
  return spoken.join('').length <= mostSpoken * tail.length
}

/** Undefined where it has too many, or too long ones. */
function countSlugWords(text: string): number | undefined {
  const isPair = ownerAndRepository.test(text)
  if (text.length > (isPair ? longestRepository : longestSlug)) return undefined
  const words = wordsOf(text)
  const isShort = words.length <= (isPair ? mostWordsTogether : mostWords)
  return isShort && words.every((word) => word.length <= longestWord) ? words.length : undefined
}

const word = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g

/** Runs of letters, and of digits that stand for letters: `m3rge` is a word. */
function wordsOf(text: string): readonly string[] {
  if (!/\d/.test(text)) return text.match(word) ?? []
  return text.split(/[._/-]/).flatMap((part) => {
    if (!/[A-Za-z]/.test(part)) return []
    const digit = /[a-z]/.test(part) ? 'o' : 'O'
    return part.replace(/\d/g, digit).match(word) ?? []
  })
}

/** `commit_message`, `bodyText` and `comments.3` are as free as `text`. */
function isFreeText(path: string): boolean {
  const name = /[A-Za-z_-]+(?=[^A-Za-z_-]*$)/.exec(path)?.[0] ?? ''
  return freeText.test(name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase())
}
