/** Writes the index of all decision notes, which stand in the READMEs of the folders that they are about. */

import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readSections } from './markdown-page.ts'

const page = 'docs/decisions.md'
const folders = ['engine', 'runtime', 'plugins', 'mappings', 'transforms', 'console', 'test', 'tools']

interface Decision {
  readonly title: string
  readonly anchor: string
}

/** The job `npm run decisions`. */
export async function decisions(root: string): Promise<void> {
  await writeFile(path.join(root, page), renderIndex(root))
  console.log(page)
}

export function renderIndex(root: string): string {
  const readmes = folders.flatMap((folder) =>
    globSync(`${folder}/**/README.md`, { cwd: root, exclude: (name) => name === 'node_modules' }).sort(),
  )
  const listed = readmes
    .map((readme) => ({ readme, notes: findDecisions(readFileSync(path.join(root, readme), 'utf8')) }))
    .filter(({ notes }) => notes.length > 0)
  const groups = listed.map(({ readme, notes }) =>
    [
      `## ${path.posix.dirname(readme)}`,
      '',
      ...notes.map(({ title, anchor }) => `- [${title}](../${readme}#${anchor})`),
      '',
    ].join('\n'),
  )
  return [
    '# Decisions',
    '',
    'A choice that took an argument has a note in the README of its folder, with its context, the decision and its cost.',
    'This page lists them all. `npm run decisions` writes it, and a test compares it with the READMEs.',
    '',
    ...groups,
  ].join('\n')
}

/**
 * A note is a section "Decision: title", or a paragraph or list item in a section "Decisions" that begins with its title in bold
 * type.
 */
export function findDecisions(readme: string): readonly Decision[] {
  let around: number | undefined
  return readSections(readme).flatMap(({ level, title, anchor, text }) => {
    if (around !== undefined && level <= around) around = undefined
    const [, own] = /^Decision: (.*)/.exec(title) ?? []
    if (own !== undefined) return [{ title: capitalised(own), anchor }]
    if (title === 'Decisions') around = level
    if (around === undefined) return []
    const leads = [...text.matchAll(/^(?:- )?\*\*(.+?)\*\*/gms)].map(([, lead = '']) => lead)
    return leads.map((lead) => ({ title: lead.replace(/\s+/g, ' ').replace(/[.,:]$/, ''), anchor }))
  })
}

function capitalised(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1)
}
