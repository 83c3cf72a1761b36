/**
 * Lists the ways in which editors, version control, installers and platforms change files. Each is a layout of files
 * and steps, and each step changes the content at the watched paths.
 */

import { cp, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { SampleFolder } from '../../config/folder-fixture.ts'

export interface EditKind {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** Creates links, which a list of files cannot express. */
  prepare?(folder: SampleFolder): Promise<unknown>
  /** Paths relative to the folder. */
  readonly watched: readonly string[]
  readonly steps: readonly ((folder: SampleFolder) => Promise<unknown>)[]
  /** Events do not show it, and the scan finds it. */
  readonly isFoundByScan?: true
}

const file = 'etc/reveille.yaml'
const files = { [file]: 'first', 'etc/mappings/a.yaml': 'first', 'etc/mappings/deep/b.json': 'first' }
const watched = [file, 'etc/.env', 'etc/mappings', 'etc/transforms']

async function saveInOneStep(path: string, content: string): Promise<void> {
  await writeFile(`${path}.tmp~`, content)
  await rename(`${path}.tmp~`, path)
}

/**
 * Saves as vim does with `backup` and `writebackup`: creates a probe, makes a backup by renaming, writes a new file,
 * and deletes the backup.
 */
async function saveLikeVim({ at }: SampleFolder, content: string): Promise<void> {
  await writeFile(at('etc/mappings/.a.yaml.swp'), 'b0VIM')
  await writeFile(at('etc/mappings/4913'), '')
  await rm(at('etc/mappings/4913'))
  await rename(at('etc/mappings/a.yaml'), at('etc/mappings/a.yaml~'))
  await writeFile(at('etc/mappings/a.yaml'), content)
  await rm(at('etc/mappings/a.yaml~'))
  await rm(at('etc/mappings/.a.yaml.swp'))
}

/** Changes a mounted ConfigMap as Kubernetes does: creates a new folder, and changes the link `..data` in one step. */
async function mountConfigMap({ at, write }: SampleFolder, from: number | undefined, to: number) {
  await write(`etc/mappings/..2026_${to}/a.yaml`, `version ${to}`)
  await symlink(`..2026_${to}`, at('etc/mappings/..data_tmp'))
  await rename(at('etc/mappings/..data_tmp'), at('etc/mappings/..data'))
  if (from !== undefined) await rm(at(`etc/mappings/..2026_${from}`), { recursive: true })
}

async function pointTo({ at }: SampleFolder, link: string, target: string): Promise<void> {
  await symlink(target, at(`${link}.new`))
  await rename(at(`${link}.new`), at(link))
}

/** Moves a copy of a folder, in which the mapping file has other content, over it. */
async function replaceFolder({ at, write }: SampleFolder, name: string, content: string): Promise<void> {
  await cp(at(name), at('next'), { recursive: true })
  await write(join('next', relative(name, 'etc/mappings/a.yaml')), content)
  await rm(at('previous'), { recursive: true, force: true })
  await rename(at(name), at('previous'))
  await rename(at('next'), at(name))
}

/** Edits like `cp -p` and `touch -r`: other content with the same length and time. */
async function editWithoutTrace(path: string, content: string): Promise<void> {
  const { atime, mtime } = await stat(path)
  await writeFile(path, content)
  await utimes(path, atime, mtime)
}

type Step = EditKind['steps'][number]

/** An edit of the files above, unless others are given. */
function edit(name: string, steps: readonly Step[], more: Partial<EditKind> = {}): EditKind {
  return { name, files, watched, steps, ...more }
}

function each<Content>(
  contents: readonly Content[],
  step: (folder: SampleFolder, content: Content) => Promise<unknown>,
): Step[] {
  return contents.map((content) => (folder: SampleFolder) => step(folder, content))
}

export const editKinds: readonly EditKind[] = [
  edit(
    'a file that is emptied and written again',
    each(['second', 'third'], ({ at }, content) => writeFile(at('etc/mappings/a.yaml'), content)),
  ),
  edit('a file that is saved in one step', [
    ...each(['second', 'third'], ({ at }, content) => saveInOneStep(at(file), content)),
    ({ at }) => saveInOneStep(at('etc/mappings/deep/b.json'), 'second'),
  ]),
  edit('an editor that backs up by renaming', each(['second', 'third'], saveLikeVim)),
  edit(
    'an edit that keeps length and time',
    each(['other', 'third'], ({ at }, content) => editWithoutTrace(at(file), content)),
  ),
  edit('a file that comes, goes and comes back', [
    ({ write }) => write('etc/.env', 'A=1'),
    ({ at }) => rm(at('etc/.env')),
    ({ write }) => write('etc/.env', 'A=2'),
    ({ at }) => rm(at('etc/mappings/a.yaml')),
  ]),
  edit('folders that come with their files', [
    ...each(['first', 'second'], ({ write }, content) => write('etc/transforms/lib/deep/x.ts', content)),
    async ({ at, write }) => {
      await write('aside/folder/c.yaml', 'moved in')
      await rename(at('aside'), at('etc/mappings/moved'))
    },
    ({ at }) => writeFile(at('etc/mappings/moved/folder/c.yaml'), 'edited'),
  ]),
  edit('a folder that is deleted and created again', [
    async ({ at, write }) => {
      await rm(at('etc/mappings'), { recursive: true })
      await write('etc/mappings/a.yaml', 'second')
    },
    ({ write }) => write('etc/mappings/a.yaml', 'third'),
    ({ at }) => rm(at('etc/mappings'), { recursive: true }),
    ({ write }) => write('etc/mappings/a.yaml', 'fourth'),
  ]),
  edit(
    'a folder that another one is moved over',
    each(['second', 'third'], (folder, content) => replaceFolder(folder, 'etc/mappings', content)),
    { isFoundByScan: true },
  ),
  edit('the folder of the configuration deleted and created again, and replaced', [
    async ({ at, write }) => {
      await rm(at('etc'), { recursive: true })
      await write(file, 'second')
    },
    ({ write }) => write('etc/mappings/a.yaml', 'second'),
    (folder) => replaceFolder(folder, 'etc', 'third'),
    ({ at }) => writeFile(at(file), 'third'),
  ]),
  edit(
    'a swapped ConfigMap',
    each([2, 3, 4], (folder, version) => mountConfigMap(folder, version - 1, version)),
    {
      files: { [file]: 'first' },
      async prepare(folder) {
        await mountConfigMap(folder, undefined, 1)
        await symlink('..data/a.yaml', folder.at('etc/mappings/a.yaml'))
      },
    },
  ),
  edit(
    'a folder that is linked into a watched one',
    [
      ({ write }) => write('shared/s.yaml', 'second'),
      ({ write }) => write('shared/new.yaml', 'first'),
      (folder) => pointTo(folder, 'etc/mappings/shared', '../../other'),
      ({ write }) => write('other/s.yaml', 'second'),
    ],
    {
      files: { ...files, 'shared/s.yaml': 'first', 'other/s.yaml': 'other' },
      prepare: ({ at }) => symlink('../../shared', at('etc/mappings/shared')),
    },
  ),
]
