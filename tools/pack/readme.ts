/** Makes the README of a published package, and the pages published with it, out of those of this repository. */

import path from 'node:path'

/** Sections for those who change the code. */
const forAuthors = /^(Decision\b|Decisions$|Rooms$|Tests$|A plugin in this repository$)/

export interface ReadmeSubject {
  readonly name: string
  /** True if the package `reveille` includes it. */
  readonly isIncluded: boolean
}

/** The README without what is for authors, with how to install the package, and with links that lead somewhere. */
export function publishedReadme(text: string, { name, isIncluded }: ReadmeSubject): string {
  const [title = '', ...rest] = text.split('\n')
  const about = 'Reveille is a webhook gateway that wakes AI agents: `npx reveille` starts one.'
  const way = isIncluded ? 'It comes with the package `reveille`.' : 'Install it beside `reveille.yaml`:'
  const command = isIncluded ? '' : `\n\n\`\`\`sh\nnpm install ${name}\n\`\`\``
  const note = `A package of Reveille. ${about} ${way}${command}`
  return namingPages([title, '', note, ...withoutAuthors(rest)].join('\n'))
}

function withoutAuthors(lines: readonly string[]): readonly string[] {
  let isCode = false
  let isLeftOut = false
  const kept = lines.filter((line) => {
    if (line.startsWith('```')) isCode = !isCode
    const heading = isCode ? null : /^(#{1,2}) (.*)$/.exec(line)
    if (heading !== null) isLeftOut = forAuthors.test(heading[2] ?? '')
    return !isLeftOut
  })
  return `${kept.join('\n').trimEnd()}\n`.split('\n')
}

/** Links to files of the repository name the page that `reveille docs` prints; others become text. */
function namingPages(text: string): string {
  return relinked(text, (label, target) => {
    const page = /(?:^|\/)docs\/([\w/-]+?)(?:\/README)?\.md(?:#.*)?$/.exec(target)?.[1]
    if (page !== undefined) return `${label} (\`reveille docs ${page}\`)`
    return /(?:^|\/)mappings\/README\.md/.test(target) ? `${label} (\`reveille docs presets\`)` : label
  })
}

/** A page of `docs/`: links to other pages stay, those to the rest of the repository become text. `file`: relative to `docs/`. */
export function publishedPage(text: string, file: string): string {
  return relinked(text, (label, target, link) => {
    const [place = ''] = target.split('#')
    const to = path.posix.join(path.posix.dirname(file), place)
    if (/(?:^|\/)mappings\/README\.md$/.test(to)) return `${label} (\`reveille docs presets\`)`
    return to.startsWith('..') ? label : link
  })
}

/** Replaces each relative link to a file. */
function relinked(text: string, replace: (label: string, target: string, link: string) => string): string {
  return text.replace(
    /(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)\s]+)\)/g,
    (link, label: string, target: string) => replace(label, target, link),
  )
}
