/** Owns WhatsApp's monospaced blocks, and the lines around them: nothing within them is markup, nor to be indented. */

import { joiner } from './signs.ts'

/** Set as WhatsApp describes it, without lines of the fence's own, which would be shown. */
export function fence(text: string): string {
  if (text.trim() === '') return ''
  const safe = text.replaceAll(/`(?=`)/g, `\`${joiner}`)
  const start = safe.startsWith('`') ? joiner : ''
  const end = safe.endsWith('`') ? joiner : ''
  return `\`\`\`${start}${safe}${end}\`\`\``
}

/** Changes the lines that begin outside a fence. */
export function mapLines(text: string, change: (line: string, index: number) => string): string {
  let isInside = false
  const lines = text.split('\n').map((line, index) => {
    const changed = isInside ? line : change(line, index)
    if ((line.split('```').length - 1) % 2 === 1) isInside = !isInside
    return changed
  })
  return lines.join('\n')
}
