/** Puts another text into a file that a person wrote: whole or not at all, because a gateway may be watching it. */

import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'

export interface ReplaceOptions {
  /** Where the file is not there yet: a file whose owner and group the new one gets. Default: those of the process. */
  readonly ownerOf?: string
}

/**
 * Mode and owner stay, and a link goes on leading to the file. A file that was not there gets mode 0600. Where the owner
 * cannot be kept, as only root gives files away, the text is written into the file itself.
 *
 * @throws Error of the file system where the file can be neither replaced nor written
 */
export async function replaceFile(file: string, text: string, options: ReplaceOptions = {}): Promise<void> {
  const target = targetOf(file)
  const before = await stat(target).catch(() => undefined)
  const model = before ?? (options.ownerOf === undefined ? undefined : await stat(options.ownerOf))
  const next = `${target}.${process.pid}.next`
  try {
    const handle = await open(next, 'w', 0o600)
    let keepsOwner: boolean
    try {
      await handle.writeFile(text)
      keepsOwner = model === undefined || (await giveTo(handle, model))
      await handle.chmod(before === undefined ? 0o600 : before.mode & 0o777)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Replaced by a file of another owner, it could not be read any more by the gateway that it is for.
    if (keepsOwner || before === undefined) await rename(next, target)
    else await writeFile(target, text)
  } finally {
    // What failed is of more interest than what stays behind.
    await rm(next, { force: true }).catch(() => undefined)
  }
}

/** Where links lead, also to a file that is not there yet. */
function targetOf(file: string): string {
  try {
    return realpathSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()
    return isLink ? path.resolve(path.dirname(file), readlinkSync(file)) : file
  }
}

/** Also where the administrator runs this for a gateway of another user. @returns whether the file is that user's now */
async function giveTo(handle: FileHandle, { uid, gid }: { readonly uid: number; readonly gid: number }) {
  const own = await handle.stat()
  if (own.uid === uid && own.gid === gid) return true
  try {
    await handle.chown(uid, gid)
    return true
  } catch {
    return own.uid === uid
  }
}
