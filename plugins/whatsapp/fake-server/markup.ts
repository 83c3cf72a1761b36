/**
 * Reads a message as WhatsApp's clients do. Meta describes the signs and not their rules. These rules are what bridges to
 * other networks have found: a sign counts where a word begins or ends, and within one line.
 *
 * Source: faq.whatsapp.com, "How to format your messages"; mautrix/whatsapp.
 */

/** Returns what a person reads. */
export function readMarkup(body: string): string {
  const pieces = body.split(/```([\s\S]+?)```/)
  return pieces.map((piece, index) => (index % 2 === 1 ? piece : readLines(piece))).join('')
}

function readLines(text: string): string {
  return text.split('\n').map(readLine).join('\n')
}

function readLine(line: string): string {
  const [, quote, rest = ''] = /^(> )?(.*)$/s.exec(line) ?? []
  const words = rest.replace(/^[-*] (?=\S)/, '• ')
  return readInline(quote === undefined ? words : words.trimStart())
}

const kinds = ['*', '_', '~'] as const

function readInline(text: string): string {
  let shown = ''
  for (let at = 0; at < text.length; ) {
    const code = codeAt(text, at)
    const sign = kinds.find((kind) => kind === text[at])
    const end = sign !== undefined && opens(text, at) ? endOf(text, sign, at) : undefined
    if (code !== undefined) shown += code.slice(1, -1)
    else if (end !== undefined) shown += readInline(text.slice(at + 1, end))
    else shown += text[at]
    at = end !== undefined ? end + 1 : at + (code?.length ?? 1)
  }
  return shown
}

/** Reads code between backticks, inside which no sign is markup. */
function codeAt(text: string, at: number): string | undefined {
  if (text[at] !== '`' || text[at - 1] === '\u2060') return undefined
  const [code] = /^`[^`\n]+`/.exec(text.slice(at)) ?? []
  return code
}

function endOf(text: string, sign: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += codeAt(text, at)?.length ?? 1) {
    if (at > start + 1 && text[at] === sign && closes(text, at)) return at
  }
  return undefined
}

/** Removes the invisible joiner that keeps the sign after it from being markup. */
function opens(text: string, at: number): boolean {
  return isEdge(text[at - 1]) && /\S/.test(text[at + 1] ?? '')
}

function closes(text: string, at: number): boolean {
  return /[^\s\u2060]/.test(text[at - 1] ?? '') && !/[\p{L}\p{N}]/u.test(text[at + 1] ?? '')
}

function isEdge(neighbour: string | undefined): boolean {
  return neighbour === undefined || /[\s\p{P}\p{S}]/u.test(neighbour)
}
