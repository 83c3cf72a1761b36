/** Replaces the text of a file that a person wrote, whole or not at all, because a gateway may be watching it. */

import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Mode and owner stay, and a link still leads to the file. A new file gets mode 0600, and owner and group of the file
 * `ownerOf`, else of the process. Where the owner cannot be kept, since only root can change owners, the text is written
 * into the file itself.
 *
 * @throws Error of the file system where the file can be neither replaced nor written
 */
export async function replaceFile(file: string, text: string, ownerOf?: string): Promise<void> {
  const target = targetOf(file)
  const before = await stat(target).catch(() => undefined)
  const model = before ?? (ownerOf === undefined ? undefined : await stat(ownerOf))
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
    // The gateway could not read a file of another owner.
    if (keepsOwner || before === undefined) await rename(next, target)
    else await writeFile(target, text)
  } finally {
    // The first error matters more than a file that is left behind.
    await rm(next, { force: true }).catch(() => undefined)
  }
}

/** The file that links lead to, which may not exist yet. */
function targetOf(file: string): string {
  try {
    return realpathSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()
    return isLink ? path.resolve(path.dirname(file), readlinkSync(file)) : file
  }
}

/** Changes the owner, as when root edits for a gateway of another user. @returns whether the file is that user's now */
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
