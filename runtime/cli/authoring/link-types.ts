/** Owns that editors, and tests run by plain Node, find `@reveille/engine/transform` from a folder of transforms. */

import { existsSync } from 'node:fs'
import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Links this program's own engine into the folder, unless the folder is below an installation. The gateway does not
 * need it. A link that leads nowhere, as after an upgrade elsewhere, is made anew.
 *
 * @param folder absolute
 * @returns the link, absolute; undefined where none was needed
 */
export async function linkTypes(folder: string): Promise<string | undefined> {
  if (isInstalled(folder)) return undefined
  const modules = path.join(folder, 'node_modules')
  const link = path.join(modules, '@reveille', 'engine')
  await mkdir(path.dirname(link), { recursive: true })
  // Links lead to places of this machine, which are of no use to those who share the folder.
  await writeFile(path.join(modules, '.gitignore'), '*\n')
  if (await isLink(link)) await rm(link)
  await symlink(engineFolder(), link, 'junction')
  return link
}

/** As Node and TypeScript look for a package: in the `node_modules` of each folder on the way up. */
function isInstalled(folder: string): boolean {
  const manifest = path.join(folder, 'node_modules', '@reveille', 'engine', 'package.json')
  if (existsSync(manifest)) return true
  const parent = path.dirname(folder)
  return parent !== folder && isInstalled(parent)
}

function engineFolder(): string {
  return path.dirname(fileURLToPath(import.meta.resolve('@reveille/engine')))
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
}
