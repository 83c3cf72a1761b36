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
  if (text.length === 0 || text.length > longest) return false
  if (number.test(text) || timestamp.test(text)) return true
  if (isFreeText(path)) return false
  return isAtom(text) || isShortSlug(shortRef(text)) || isRandomId(text)
}

/** What no words can be read in. */
function isAtom(text: string): boolean {
  return timestamp.test(text) || hexadecimal.test(text) || uuid.test(text) || advisory.test(text)
}

/** Of Git's `refs/heads/main` the name alone. */
function shortRef(text: string): string {
  return text.replace(/^refs\/(?:heads|tags)\//, '')
}

/** `commit_message`, `bodyText` and `comments.3` are as free as `text`. */
function isFreeText(path: string): boolean {
  const name = /[A-Za-z_-]+(?=[^A-Za-z_-]*$)/.exec(path)?.[0] ?? ''
  return freeText.test(name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase())
}

function isShortSlug(text: string): boolean {
  if (!slug.test(text)) return false
  const isPair = ownerAndRepository.test(text)
  if (text.length > (isPair ? longestRepository : longestSlug)) return false
  const words = wordsOf(text)
  if (words.some((word) => word.length > longestWord)) return false
  return words.length <= (isPair ? mostWordsTogether : mostWords)
}

/** Chance makes short words. `x_Ign0reAllPrev10usRul3s` is made of long ones. */
function isRandomId(text: string): boolean {
  const tail = randomId.exec(text)?.[1]
  if (tail === undefined) return false
  const spoken = wordsOf(tail).filter((word) => word.length >= 4)
  return spoken.join('').length <= mostSpoken * tail.length
}

const word = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g

/** How many words a model might read in a value that `isHarmless` let through. */
export function countWords(text: string): number {
  return /[A-Za-z]/.test(text) && !isAtom(text) && !isRandomId(text) ? wordsOf(shortRef(text)).length : 0
}

/** Runs of letters, and of digits that stand for letters: `m3rge` is a word. */
function wordsOf(slug: string): string[] {
  return slug.split(/[._/-]/).flatMap((part) => {
    if (!/[A-Za-z]/.test(part)) return []
    const digit = /[a-z]/.test(part) ? 'o' : 'O'
    return part.replace(/\d/g, digit).match(word) ?? []
  })
}
