/**
 * Writes the state of the archive to the disk. New generations are written before the index, and those that are no longer kept
 * are removed after it, so a crash in between leaves an archive that is a little behind or holds a little too much.
 */

import { link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { GenerationContent } from '@reveille/engine'
import { writeWhole } from '../write-whole.ts'
import { type Layout, recordName, unfinished } from './layout.ts'
import { type ArchiveOnDisk, hashOf, isAbsent, readRecord } from './reading.ts'
import { bundlesToWrite, type CopiedFile, format } from './records.ts'
import type { ArchiveState, KeptGeneration, NumberedRecord } from './state.ts'

/**
 * Number of generations by which the index on the disk is ahead while a gateway runs, so that numbers that went live and were not written
 * before it died are not given again. A gateway that closes writes the true number.
 */
const ahead = 8

export type WriteState = ReturnType<typeof createWriting>

/** A generation on disk. */
interface Written {
  readonly folder: string
  readonly sources: ReadonlyMap<string, string>
  readonly hashes: ReadonlyMap<string, string>
}

export function createWriting(layout: Layout, found: Pick<ArchiveOnDisk, 'kept' | 'refused'>) {
  const records = new Map(found.kept.map(({ record }) => [record.generation, record]))
  const refusedNumbers = new Set(found.refused.map(({ number }) => number))
  let index = ''
  let isTidy = false
  /** The generation that was written last. */
  let last: Written | undefined

  /** Removes what a crash left behind. */
  async function tidy(): Promise<void> {
    for (const folder of [layout.folder, layout.refusedFolder]) {
      const names = (await readdir(folder)).filter((name) => name.startsWith(unfinished))
      for (const name of names) await rm(join(folder, name), { recursive: true, force: true })
    }
    isTidy = true
  }

  async function writeKept(entry: KeptGeneration): Promise<void> {
    const { record, content } = entry
    const { generation } = record
    const there = records.has(generation)
      ? await readRecord(layout, generation).catch(() => undefined)
      : undefined
    if (there) await writeDrafted(layout.recordFile(generation), format({ ...there, record }))
    else if (content) last = await writeGeneration({ record, content }, last, layout)
    records.set(generation, record)
  }

  async function remove(state: ArchiveState): Promise<void> {
    const kept = new Set(state.kept.map(({ record }) => record.generation))
    for (const generation of records.keys()) {
      if (kept.has(generation)) continue
      await removeFolder(layout.generationFolder(generation))
      records.delete(generation)
    }
    const refused = new Set(state.refused.map(({ number }) => number))
    for (const number of refusedNumbers) {
      if (refused.has(number)) continue
      await rm(layout.refusedFile(number), { force: true })
      refusedNumbers.delete(number)
    }
  }

  /**
   * `isLast`: no number is given any more. `onWritten` is called for each generation whose content is on the disk.
   * @throws Error of the disk; the next call does what was not done
   */
  return async function write(
    state: ArchiveState,
    onWritten: (entry: KeptGeneration) => void,
    isLast: boolean,
  ): Promise<void> {
    await makeFolder(layout.refusedFolder)
    if (!isTidy) await tidy()
    const isNew = ({ record }: KeptGeneration) => records.get(record.generation) !== record
    for (const entry of state.kept.filter(isNew).reverse()) {
      await writeKept(entry)
      onWritten(entry)
    }
    for (const { number, record } of state.refused.toReversed()) {
      if (refusedNumbers.has(number)) continue
      await writeDrafted(layout.refusedFile(number), format(record))
      refusedNumbers.add(number)
    }
    const { highest, rollback } = state
    const text = format({ highest: isLast ? highest : highest + ahead, rollback })
    if (text !== index) await writeDrafted(layout.indexFile, text)
    index = text
    await remove(state)
  }
}

/** An equal file becomes a link to the copy of the last generation. */
async function writeGeneration(
  { record, content }: { readonly record: NumberedRecord; readonly content: GenerationContent },
  last: Written | undefined,
  layout: Layout,
): Promise<Written> {
  const folder = layout.generationFolder(record.generation)
  const draft = join(layout.folder, `${unfinished}${record.generation}.draft`)
  await rm(draft, { recursive: true, force: true })
  await makeFolder(draft)
  const hashes = new Map<string, string>()
  const folders = new Set<string>()
  for (const [path, text] of content.sources) {
    const file = join(draft, layout.copyName(path))
    if (!folders.has(dirname(file))) await makeFolder(dirname(file))
    folders.add(dirname(file))
    hashes.set(path, await copy({ file, path, text }, last, layout))
  }
  const files = [...hashes].map(
    ([path, sha256]): CopiedFile => ({ path: layout.toWritten(path, 'configuration'), sha256 }),
  )
  const bundles = bundlesToWrite(content, layout)
  await writeDrafted(join(draft, recordName), format({ record, files, bundles }))
  await removeFolder(folder)
  await rename(draft, folder)
  return { folder, sources: content.sources, hashes }
}

/** Links the file of the last generation where it is the same. @returns the hash of its bytes */
async function copy(
  { file, path, text }: { readonly file: string; readonly path: string; readonly text: string },
  last: Written | undefined,
  layout: Layout,
): Promise<string> {
  const hash = last?.sources.get(path) === text ? last.hashes.get(path) : undefined
  if (last && hash !== undefined) {
    const linked = await link(join(last.folder, layout.copyName(path)), file).then(
      () => true,
      // Not every file system has links, and the linked file may be lost.
      () => false,
    )
    if (linked) return hash
  }
  const bytes = Buffer.from(text)
  await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
  return hashOf(bytes)
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

async function writeDrafted(file: string, text: string): Promise<void> {
  await writeWhole(file, text, join(dirname(file), `${unfinished}draft`))
}

/** Removes a folder that may exist, in one step, so that a crash leaves no folder that looks complete and is not. */
async function removeFolder(folder: string): Promise<void> {
  const gone = join(dirname(folder), `${unfinished}gone`)
  await rm(gone, { recursive: true, force: true })
  try {
    await rename(folder, gone)
  } catch (error) {
    if (isAbsent(error)) return
    throw error
  }
  await rm(gone, { recursive: true, force: true })
}
