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
export function linkTypes(folder: string): Promise<string | undefined> {
  return linkPackage(folder, '@reveille/engine')
}

/** The same for another package of this program, which it can import. */
export async function linkPackage(
  folder: string,
  name: '@reveille/engine' | '@reveille/kit',
): Promise<string | undefined> {
  if (isInstalled(folder, name)) return undefined
  const modules = path.join(folder, 'node_modules')
  const link = path.join(modules, name)
  await mkdir(path.dirname(link), { recursive: true })
  // Links lead to places of this machine, which are of no use to those who share the folder.
  await writeFile(path.join(modules, '.gitignore'), '*\n')
  if (await isLink(link)) await rm(link)
  await symlink(path.dirname(fileURLToPath(import.meta.resolve(name))), link, 'junction')
  return link
}

/** As Node and TypeScript look for a package: in the `node_modules` of each folder on the way up. */
function isInstalled(folder: string, name: string): boolean {
  const manifest = path.join(folder, 'node_modules', name, 'package.json')
  if (existsSync(manifest)) return true
  const parent = path.dirname(folder)
  return parent !== folder && isInstalled(parent, name)
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
}
