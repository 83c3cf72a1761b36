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
  let result = ''
  let last = ''
  for (const [token] of text.matchAll(tokens)) {
    const isEmpty = last === '{' || last === '['
    const isFirst = isEmpty && token !== '}' && token !== ']'
    if (isFirst) result += lineBreak(depth)
    last = token
    if (token === '{' || token === '[') {
      depth += 1
      result += token
    } else if (token === '}' || token === ']') {
      depth -= 1
      // An empty object stays on its line.
      result += isEmpty ? token : lineBreak(depth) + token
    } else if (token === ',') result += token + lineBreak(depth)
    else result += token === ':' ? ': ' : token
  }
  return result
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g

function lineBreak(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, maxIndented))}`
}

/** Deeper values are not indented further, as a hostile body may be thousands of levels deep. */
const maxIndented = 40
