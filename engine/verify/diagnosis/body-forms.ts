/** Lists the forms in which a sender may have signed a body that was written again on its way. */

export interface BodyForm {
  /** Completes the sentence "it fits the body …". */
  readonly told: string
  readonly bytes: Uint8Array
}

/** Of a longer body only the forms are tried that cost little. */
const longBody = 5 * 1024 * 1024
/** A longer JSON text is tried as it came and compact, and in no other layout. */
const longLayout = 256 * 1024

/** The likelier forms come first. Each is made when it is asked for, and none is the body itself. */
export function* bodyForms(raw: Uint8Array): Iterable<BodyForm> {
  const body = Buffer.from(raw)
  const text = body.toString()
  const isLong = body.length > longBody
  for (const [told, rewrite] of isLong ? endings : [...endings, ...encodings]) {
    const form = rewrite(text)
    if (form !== undefined && form !== text) yield { told, bytes: Buffer.from(form as string) }
  }
  const json = parseContainer(text)
  if (json === undefined) return
  if (!isLong) yield* escapedForms('', text)
  for (const [told, write] of text.length > longLayout ? layouts.slice(0, 1) : layouts) {
    const written = write(json)
    if (written === text) continue
    yield formOf([told], written)
    if (isLong) continue
    yield formOf([told, 'and a line break at its end'], `${written}\n`)
    yield* escapedForms(told, written)
  }
}

type Forms<Input, Output> = readonly (readonly [told: string, write: (input: Input) => Output])[]

/** Each returns undefined where the text has no such form. */
type TextForms = Forms<string, string | Buffer | undefined>

const endings: TextForms = [
  ['without the line break at its end', (text) => text.replace(/\r?\n$/, '')],
  ['with a line break at its end', (text) => (text.endsWith('\n') ? undefined : `${text}\n`)],
  ['with CRLF at its end', (text) => `${text.replace(/\r?\n$/, '')}\r\n`],
  ['without the byte order mark at its beginning', (text) => text.replace(/^\ufeff/, '')],
  ['with a byte order mark at its beginning', (text) => `\ufeff${text}`],
]

const encodings: TextForms = [
  ['with LF in place of CRLF', (text) => text.replaceAll('\r\n', '\n')],
  ['with CRLF in place of LF', (text) => text.replace(/\r?\n/g, '\r\n')],
  ['as a form, in its field `payload`', (text) => formWith(text)],
  ['as a form with %20 for blanks, in its field `payload`', (text) => formWith(text)?.replaceAll('+', '%20')],
  ['unwrapped from the field `payload` of its form', (text) => fieldsIn(text)?.get('payload') ?? undefined],
  ['as a form written again, with + for blanks', (text) => fieldsIn(text)?.toString()],
  [
    'as a form written again, with %20 for blanks',
    (text) => fieldsIn(text)?.toString().replaceAll('+', '%20'),
  ],
  [
    'in UTF-8 once: it was encoded twice',
    (text) => (isLatin(text) ? Buffer.from(text, 'latin1') : undefined),
  ],
  ['decoded from base64', (text) => (isBase64.test(text) ? Buffer.from(text, 'base64') : undefined)],
  ['unwrapped from a JSON string', (text) => (text.startsWith('"') ? stringIn(text) : undefined)],
]

const isBase64 = /^[\w+/-]{8,}={0,2}\s*$/

function isLatin(text: string): boolean {
  return /[\u0080-\u00ff]/.test(text) && !/[\u0100-\uffff]/.test(text)
}

function formWith(text: string): string | undefined {
  return /^\s*[{[]/.test(text) ? new URLSearchParams([['payload', text]]).toString() : undefined
}

/** The platform takes its time over a long form. */
function fieldsIn(text: string): URLSearchParams | undefined {
  return text.length < 256 * 1024 && /^[\w.-]{1,64}=/.test(text) ? new URLSearchParams(text) : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function stringIn(text: string): string | undefined {
  const value = parse(text)
  return typeof value === 'string' ? value : undefined
}

/** Returns the value where the text is a JSON object or list that does not nest too deeply to be written again. */
function parseContainer(text: string): object | undefined {
  const value = parse(text.replace(/^\ufeff/, ''))
  try {
    JSON.stringify(value)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const layouts: Forms<object, string> = [
  ['as compact JSON', (value) => JSON.stringify(value)],
  ['with two-space indentation', (value) => JSON.stringify(value, null, 2)],
  ['with four-space indentation', (value) => JSON.stringify(value, null, 4)],
  ['with tabs as indentation', (value) => JSON.stringify(value, null, '\t')],
  [
    'with a space behind each comma and colon',
    // No JSON string holds a line break, so that all of these belong to the indentation.
    (value) => JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, ''),
  ],
]

const units = /\\(?:u[\da-fA-F]{4}|[\s\S])/g

const slashes: Forms<string, string> = [
  ['', (text) => text],
  ['with `\\/`', (text) => text.replace(/\\[\s\S]|\//g, (unit) => (unit === '/' ? '\\/' : unit))],
  ['with `/` in place of `\\/`', (text) => text.replace(units, (unit) => (unit === '\\/' ? '/' : unit))],
]

const characters: Forms<string, string> = [
  ['', (text) => text],
  ['with \\uXXXX for what is not ASCII', (text) => text.replace(/[\u0080-\uffff]/g, escaped)],
  [
    'with \\uXXXX, in upper case, for what is not ASCII',
    (text) => text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${escaped(unit).slice(2).toUpperCase()}`),
  ],
  ['with characters in place of \\uXXXX', (text) => text.replace(units, unescaped)],
  ['with \\uXXXX for `<`, `>` and `&`', (text) => text.replace(/[<>&]/g, escaped)],
]

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function unescaped(unit: string): string {
  const code = unit.length === 6 ? Number.parseInt(unit.slice(2), 16) : 0
  return code >= 0x80 || '<>&'.includes(String.fromCharCode(code)) ? String.fromCharCode(code) : unit
}

function* escapedForms(layout: string, text: string): Iterable<BodyForm> {
  for (const [slash, writeSlashes] of slashes) {
    const slashed = writeSlashes(text)
    if (slash !== '' && slashed === text) continue
    for (const [character, writeCharacters] of characters) {
      const written = writeCharacters(slashed)
      if (written !== text && (character === '' || written !== slashed))
        yield formOf([layout, slash, character], written)
    }
  }
}

function formOf(told: readonly string[], text: string): BodyForm {
  return { told: `written ${told.filter(Boolean).join(', ')}`, bytes: Buffer.from(text) }
}
