/** Links a package of this program into a folder, so that editors and plain Node find what files there import. */

import { existsSync } from 'node:fs'
import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Links the package, unless the folder is below an installation of it. The gateway does not need the link. A link that
 * leads nowhere, as after an upgrade elsewhere, is replaced.
 *
 * @param folder absolute
 * @returns the link, absolute; undefined where none was needed
 */
export async function linkPackage(
  folder: string,
  name: '@reveille/engine' | '@reveille/kit',
): Promise<string | undefined> {
  if (isInstalled(folder, name)) return undefined
  const modules = path.join(folder, 'node_modules')
  const link = path.join(modules, name)
  await mkdir(path.dirname(link), { recursive: true })
  // A link leads to a place on this machine, which is of no use to others who share the folder.
  await writeFile(path.join(modules, '.gitignore'), '*\n')
  const earlier = await lstat(link).catch(() => undefined)
  if (earlier?.isSymbolicLink()) await rm(link)
  await symlink(path.dirname(fileURLToPath(import.meta.resolve(name))), link, 'junction')
  return link
}

/** Node and TypeScript look for a package in the `node_modules` of each folder on the way up. */
function isInstalled(folder: string, name: string): boolean {
  const manifest = path.join(folder, 'node_modules', name, 'package.json')
  if (existsSync(manifest)) return true
  const parent = path.dirname(folder)
  return parent !== folder && isInstalled(parent, name)
}
