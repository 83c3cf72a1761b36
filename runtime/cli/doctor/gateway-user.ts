/** Decides which user the gateway runs as, which the user who runs `doctor` may not be. */

import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { NotChecked } from './check.ts'
import type { Subject } from './subject.ts'

export type User = Pick<Stats, 'uid' | 'gid'>

const root = 0

/** Returns the user who runs `doctor`. @throws NotChecked on Windows */
export function askingUser(): User {
  const uid = process.getuid?.()
  if (uid === undefined) throw new NotChecked('NOT_POSIX', 'files have no owners of that kind on Windows')
  return { uid, gid: process.getgid?.() ?? uid }
}

/**
 * The owner of the data folder runs the gateway. Before the first start there is no data folder: a gateway that root sets up
 * is then for the owner of the configuration's folder, and any other user sets one up for himself.
 */
export async function gatewayUser(
  { settingsIfKnown, folder }: Pick<Subject, 'settingsIfKnown' | 'folder'>,
  asking: User,
  ownerOf: (target: string) => Promise<User> = stat,
): Promise<User> {
  const dataDir = settingsIfKnown?.gateway.dataDir
  const data = dataDir === undefined ? undefined : await ownerOf(dataDir).catch(() => undefined)
  return data ?? (asking.uid === root ? ownerOf(folder) : asking)
}
