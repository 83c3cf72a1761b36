/** `reveille docs`: lists the pages that come with this version, and prints one. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { nearestName } from '@reveille/engine/text'
import { pagesFolder } from '../package-folder.ts'
import { presetsFolder } from '../presets-folder.ts'
import { badUsage } from './command-failure.ts'
import type { Io } from './io.ts'
import { formatTable, print } from './print.ts'

interface Page {
  /** The path below the folder of pages, without `.md`: `reference/http`. */
  readonly name: string
  readonly title: string
  /** Absolute. */
  readonly file: string
}

/** A page is named by its name, or by the end of it where no other page ends so: `http`. */
export async function docs(asked: string | undefined, io: Io): Promise<number> {
  const pages = findPages()
  if (asked === undefined) {
    const rows = pages.map(({ name, title }) => [name, title])
    return print(io, { pages }, () => formatTable(['PAGE', 'TITLE'], rows, io.columns))
  }
  const page = pick(pages, asked)
  const text = readFileSync(page.file, 'utf8')
  return print(io, { ...page, text }, () => text)
}

function findPages(): readonly Page[] {
  const folder = pagesFolder()
  const skill = [path.join(folder, 'SKILL.md'), path.join(folder, '..', 'SKILL.md')].find((file) =>
    existsSync(file),
  )
  const files = globSync('**/*.md', { cwd: folder, exclude: ['decisions/**'] }).map((file) => ({
    name: file
      .split(path.sep)
      .join('/')
      .replace(/(\/README)?\.md$/, ''),
    file: path.join(folder, file),
  }))
  return [
    ...files.filter(({ name }) => name !== 'SKILL'),
    { name: 'presets', file: path.join(presetsFolder(), 'README.md') },
    ...(skill === undefined ? [] : [{ name: 'skill', file: skill }]),
  ]
    .map((page) => ({ ...page, title: titleOf(readFileSync(page.file, 'utf8')) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? ''
}

function pick(pages: readonly Page[], asked: string): Page {
  const pageName = asked.toLowerCase().replace(/^docs\/|\.md$/g, '')
  const found =
    pages.find(({ name }) => name === pageName) ??
    single(pages.filter(({ name }) => name.endsWith(`/${pageName}`)))
  if (found !== undefined) return found
  const names = pages.flatMap(({ name }) => [name, path.posix.basename(name)])
  const close = nearestName(pageName, names)
  const hint = close === undefined ? '' : ` Did you mean ${close}?`
  throw badUsage(`There is no page ${asked}.${hint} reveille docs lists all pages.`)
}

function single<Value>(values: readonly Value[]): Value | undefined {
  return values.length === 1 ? values[0] : undefined
}
