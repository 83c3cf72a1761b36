/**
 * Tests the published packages outside this repository. They are unpacked there, and the dependencies of their
 * package.json files are linked from here. `npm run soak` has npm install all of it.
 */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { testPackages } from './pack.ts'

const run = promisify(execFile)
const here = path.join(import.meta.dirname, '..', 'node_modules')

testPackages(async (home, packages) => {
  const modules = path.join(home, 'node_modules')
  for (const { name, file } of packages) {
    const own = path.join(modules, name)
    await mkdir(own, { recursive: true })
    await run('tar', ['-xzf', file, '-C', own, '--strip-components=1'])
  }
  for (const { name } of packages) {
    const { dependencies = {} } = JSON.parse(await readFile(path.join(modules, name, 'package.json'), 'utf8'))
    for (const dependency of Object.keys(dependencies)) {
      const place = path.join(modules, dependency)
      if (existsSync(place)) continue
      await mkdir(path.dirname(place), { recursive: true })
      await symlink(path.join(here, dependency), place, 'junction')
    }
  }
  return undefined
})
