/** Writes a small file in one step: a crash leaves the old file or the new one. */

import { open, rename } from 'node:fs/promises'

/** Only its owner may read the file. `draft` is in the same folder, and may be left from a crash. */
export async function writeWhole(file: string, text: string, draft = `${file}.draft`): Promise<void> {
  const handle = await open(draft, 'w', 0o600)
  try {
    // A draft that a crash left may have another mode.
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
