/** Owns writing a small file in one step: a crash leaves the file that was there, or the new one. */

import { open, rename } from 'node:fs/promises'

/** For nobody else to read. `draft` lies in the same folder, and may be what a crash left. */
export async function writeWhole(file: string, text: string, draft = `${file}.draft`): Promise<void> {
  const handle = await open(draft, 'w', 0o600)
  try {
    // What a crash left may have another mode.
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
