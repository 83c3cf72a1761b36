/** Makes temporary folders with real files for tests. */

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

export interface SampleFolder {
  readonly path: string
  /** Returns the absolute path of a file in the folder. */
  at(name: string): string
  /** Writes a file with its folders, and returns its absolute path. */
  write(name: string, content: string | Uint8Array): Promise<string>
}

export async function createSampleFolder(
  test: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<SampleFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'reveille-')))
  test.after(() => rm(path, { recursive: true, force: true }))
  const at = (name: string) => join(path, name)
  const write = async (name: string, content: string | Uint8Array) => {
    await mkdir(dirname(at(name)), { recursive: true })
    await writeFile(at(name), content)
    return at(name)
  }
  for (const [name, content] of Object.entries(files)) await write(name, content)
  return { path, at, write }
}
