/** Lays JSON out over lines. Only white space changes: numbers, escapes and names that come twice stay as they were written. */

/** Returns undefined for what is no JSON object or list. */
export function layOut(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  let depth = 0
  const lineBreak = () => `\n${'  '.repeat(Math.min(depth, maxIndented))}`
  return text.trim().replaceAll(tokens, (token, string?: string) => {
    if (string !== undefined) return string
    const [first = ''] = token.trim()
    if (first === ':') return ': '
    if (first === ',') return `,${lineBreak()}`
    // An empty object stays on its line.
    if (/^[[{]\s*[\]}]$/.test(token.trim())) return token.replaceAll(/\s/g, '')
    if (first === '{' || first === '[') depth += 1
    else if (first === '}' || first === ']') depth -= 1
    if (first === '') return ''
    return first === '{' || first === '[' ? first + lineBreak() : lineBreak() + first
  })
}

/** A string, or a mark with the white space around it, or white space. */
const tokens = /("(?:[^"\\]|\\.)*")|\s*(?:[[{]\s*[\]}]|[{}[\]:,])\s*|\s+/g

/** Deeper values are not indented further, as a hostile body may be thousands of levels deep. */
const maxIndented = 40
