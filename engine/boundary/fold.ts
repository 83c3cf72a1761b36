/** Owns seeing a text as a careless reader would: look-alike characters folded to ASCII, invisible ones gone. */

/** A folded text, and for each of its units the place in the original that it came from. */
export interface Folded {
  readonly text: string
  readonly origin: readonly number[]
}

/** Characters that look like an ASCII one and that no Unicode decomposition leads back to it. */
const lookAlikes = new Map<number, string>()
for (const [ascii, others] of [
  ['<', '‹〈⟨❮＜﹤˂ᐸ≺⧼'],
  ['>', '›〉⟩❯＞﹥˃ᐳ≻⧽'],
  ['[', '［〔【⟦❲'],
  [']', '］〕】⟧❳'],
  ['|', '｜¦ǀ∣│┃❘⎮丨'],
  ['/', '／⁄∕╱⧸'],
  ['-', '‐‑‒–—―−﹣－─━➖'],
  ['_', '＿‗▁'],
  ['=', '＝═'],
  ['"', '＂“”„‟«»'],
  ['a', 'аɑαᴀ'],
  ['b', 'Ьʙ'],
  ['c', 'сϲᴄ'],
  ['d', 'ԁɗᴅ'],
  ['e', 'еєɛᴇ℮'],
  ['g', 'ɡɢ'],
  ['h', 'һн'],
  ['i', 'іιıɪӏ'],
  ['j', 'јϳ'],
  ['k', 'кκᴋ'],
  ['l', 'ⅼʟ'],
  ['m', 'мᴍ'],
  ['n', 'ոηɴ'],
  ['o', 'оοօσᴏ'],
  ['p', 'рρᴘ'],
  ['r', 'гʀ'],
  ['s', 'ѕꜱ'],
  ['t', 'тτᴛ'],
  ['u', 'υսʋᴜ'],
  ['v', 'ѵνᴠ'],
  ['w', 'ԝѡᴡ'],
  ['x', 'хχ'],
  ['y', 'уγʏ'],
  ['z', 'ᴢ'],
] as const) {
  for (const other of others) {
    for (const form of [other, other.toUpperCase()]) {
      const point = form.codePointAt(0)
      if (point !== undefined && point > 0x7f && !lookAlikes.has(point)) lookAlikes.set(point, ascii)
    }
  }
}

/** Format characters and combining marks, and the fillers that fonts draw as nothing. */
const invisible = /^(?:\p{Cf}|\p{Mn}|[\u115f\u1160\u3164\uffa0])$/u

/** Blocks whose characters may decompose to ASCII: accented, lettered, circled, full-width, mathematical. */
function mayDecompose(point: number): boolean {
  return (
    (point >= 0xa0 && point <= 0x24f) ||
    (point >= 0x1d00 && point <= 0x1eff) ||
    (point >= 0x2000 && point <= 0x24ff) ||
    (point >= 0xfb00 && point <= 0xffef) ||
    (point >= 0x1d400 && point <= 0x1d7ff) ||
    (point >= 0x1f100 && point <= 0x1f1ff)
  )
}

function foldCharacter(character: string, point: number): string {
  const known = lookAlikes.get(point)
  if (known !== undefined) return known
  if (invisible.test(character)) return ''
  if (!mayDecompose(point)) return character
  const base = character.normalize('NFKD').charAt(0)
  return base !== '' && base.charCodeAt(0) < 0x80 ? base.toLowerCase() : character
}

/** Lower case throughout. Costs a walk over the text: ask only for texts that are not plain ASCII. */
export function fold(text: string): Folded {
  let folded = ''
  const origin: number[] = []
  for (let index = 0; index < text.length; ) {
    const point = text.codePointAt(index) ?? 0
    const length = point > 0xffff ? 2 : 1
    const seen =
      point < 0x80
        ? text.charAt(index).toLowerCase()
        : foldCharacter(text.slice(index, index + length), point)
    folded += seen
    for (let unit = 0; unit < seen.length; unit++) origin.push(index)
    index += length
  }
  return { text: folded, origin }
}
