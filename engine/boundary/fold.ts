/** Folds a text to what a careless reader would see: look-alike characters become ASCII, invisible ones are dropped. */

/** A folded text. `origin` has the place in the original for each of its units, and for its end. */
export interface Folded {
  readonly text: string
  readonly origin: Uint32Array
}

/** Characters that look like an ASCII character and that no Unicode decomposition leads back to it. */
const lookAlikes = new Map<number, string>()
for (const [ascii, others] of [
  ['<', '\u2329‹〈⟨❮❬❰＜﹤˂ᐸ≺⧼≮≪⋖«《⟪⟬⟮⦑︿ᚲ𝈶'],
  ['>', '\u232a›〉⟩❯❭❱＞﹥˃ᐳ≻⧽≯≫⋗»》⟫⟭⟯⦒﹀𝈷'],
  ['[', '［〔【⟦❲'],
  [']', '］〕】⟧❳'],
  ['|', '｜¦ǀ∣│┃❘⎮丨'],
  ['/', '／⁄∕╱⧸'],
  ['-', '‐‑‒–—―−﹣－─━➖'],
  ['_', '＿‗▁'],
  ['=', '＝═'],
  ['"', '＂“”„‟'],
  [':', '：﹕∶꞉ː˸׃'],
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

/** Control and format characters, combining marks, and the fillers that fonts draw as nothing. */
const invisible = /^(?:\p{Cc}|\p{Cf}|\p{Mn}|\p{Me}|[\u115f\u1160\u2800\u3164\uffa0])$/u

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

/** Two codes that no character folds to, because control characters are dropped. */
const unchanged = 1
const dropped = 2

/** Returns the code of the ASCII character that a character folds to, or one of the two codes above. */
function classify(point: number): number {
  const lookAlike = lookAlikes.get(point)
  if (lookAlike !== undefined) return lookAlike.charCodeAt(0)
  const character = String.fromCodePoint(point)
  if (invisible.test(character)) return dropped
  if (!mayDecompose(point)) return unchanged
  const base = character.normalize('NFKD').toLowerCase().charCodeAt(0)
  return base < 0x80 ? base : unchanged
}

/** A cache of classes by character. Without it a megabyte of foreign text would take a tenth of a second. */
const classes = new Uint8Array(0x10000)

function classOf(point: number): number {
  if (point > 0xffff) return classify(point)
  const cached = classes[point] ?? 0
  if (cached !== 0) return cached
  const folded = classify(point)
  classes[point] = folded
  return folded
}

/** ASCII becomes lower case. The whole text is walked, so call it only for texts that are not printable ASCII. */
export function fold(text: string): Folded {
  const folded = new Uint16Array(text.length)
  const origin = new Uint32Array(text.length + 1)
  let units = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const point = unit >= 0xd800 && unit <= 0xdbff ? (text.codePointAt(index) ?? unit) : unit
    const code = point < 0x80 ? foldAscii(point) : classOf(point)
    if (code !== dropped) {
      origin[units] = index
      folded[units++] = code === unchanged ? unit : code
    }
    if (point <= 0xffff) continue
    index++
    if (code !== unchanged) continue
    origin[units] = index - 1
    folded[units++] = text.charCodeAt(index)
  }
  origin[units] = text.length
  const written = Buffer.from(folded.buffer, 0, units * 2)
  return { text: written.toString('utf16le'), origin: origin.subarray(0, units + 1) }
}

/** Folds to lower case. Of the control characters only white space is kept. */
function foldAscii(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20
  if (code >= 0x20) return code === 0x7f ? dropped : code
  return code >= 0x09 && code <= 0x0d ? code : dropped
}

/** The pattern finds any character that folds to one of these ASCII characters. */
export function compileLookAlikeTest(characters: string): RegExp {
  const others = [...lookAlikes].filter(([, ascii]) => characters.includes(ascii))
  const points = [...characters]
    .map((character) => character.charCodeAt(0))
    .concat(others.map(([point]) => point))
  return new RegExp(`[${points.map((point) => `\\u{${point.toString(16)}}`).join('')}]`, 'u')
}
