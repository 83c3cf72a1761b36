/** Owns putting another text into a file that a person wrote: whole or not at all, because a gateway may be watching it. */

import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'

/** Mode and owner stay, and a link goes on leading to the file. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const target = await realpath(file)
  const next = `${target}.${process.pid}.next`
  try {
    const handle = await open(next, 'w', 0o600)
    try {
      await handle.writeFile(text)
      await likeBefore(handle, target)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(next, target)
  } finally {
    // What failed is of more interest than what stays behind.
    await rm(next, { force: true }).catch(() => undefined)
  }
}

/** Also where the administrator runs this for a gateway that is somebody else's, and whatever new files usually have. */
async function likeBefore(handle: FileHandle, target: string): Promise<void> {
  const before = await stat(target)
  const own = await handle.stat()
  if (own.uid !== before.uid || own.gid !== before.gid) {
    await handle.chown(before.uid, before.gid).catch(() => undefined)
  }
  await handle.chmod(before.mode & 0o777)
}
