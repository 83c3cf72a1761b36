/** Rewrites a page of the repository for the site. */

import path from 'node:path'

export interface Targets {
  /** The Markdown files that are pages of the site, each with its address there. */
  readonly pages: ReadonlyMap<string, string>
  /** The other files that are copied to the site, likewise. */
  readonly files: ReadonlyMap<string, string>
}

/** Rewrites the links of a page; a link to a file that is not on the site becomes its text. Comments are left out. */
export function rewritePage(file: string, text: string, targets: Targets): string {
  return outsideBlocks(text, (prose) =>
    prose
      .replace(/<!--.*?-->\n?/gs, '')
      .replace(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (link, words: string, target: string) => {
        if (target.startsWith('#') || /^[a-z]+:/.test(target)) return link
        const rewritten = rewriteTarget(file, target, targets)
        return rewritten === undefined ? words : `[${words}](${rewritten})`
      }),
  )
}

function rewriteTarget(file: string, target: string, { pages, files }: Targets): string | undefined {
  const [linked = '', anchor] = target.split('#')
  const found = path.posix.join(path.posix.dirname(file), linked)
  const address = pages.get(found) ?? files.get(found)
  if (address === undefined) return undefined
  const relative = path.posix.relative(path.posix.dirname(pages.get(file) ?? ''), address)
  const explicit = relative.startsWith('.') ? relative : `./${relative}`
  return anchor === undefined ? explicit : `${explicit}#${anchor}`
}

/** Returns the title of a page, which is its first heading, without marks. */
export function titleOf(text: string): string {
  return plainText(/^# (.*)$/m.exec(text)?.[1] ?? '')
}

/** Returns the first sentence of a page, without marks. */
export function firstSentence(text: string): string {
  const paragraph = text
    .replace(/^```.*?^```$/gms, '')
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .find((part) => /^[\p{L}`*[]/u.test(part))
  const plain = plainText(paragraph ?? '').replace(/\s+/g, ' ')
  return /^.*?[.:!?](?=\s|$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain
}

function plainText(markdown: string): string {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
}

function outsideBlocks(text: string, rewrite: (prose: string) => string): string {
  return text
    .split(/^(```.*?^```$)/ms)
    .map((part) => (part.startsWith('```') ? part : rewrite(part)))
    .join('')
}
