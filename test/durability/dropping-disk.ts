/** A disk that loses writes where no file system can be made: a library that is preloaded into the gateway. See `dropping-disk.c`. */

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FailingDisk } from './thin-disk.ts'

/** Returns undefined where there is no C compiler, or no LD_PRELOAD. */
export function createDroppingDisk(): FailingDisk | undefined {
  if (process.platform !== 'linux') return undefined
  const parent = mkdtempSync(join(tmpdir(), 'reveille-dropping-'))
  const [root, state, library] = [join(parent, 'disk'), join(parent, 'state'), join(parent, 'disk.so')]
  mkdirSync(root)
  mkdirSync(state)
  const remove = () => rmSync(parent, { recursive: true, force: true })
  try {
    const source = fileURLToPath(new URL('./dropping-disk.c', import.meta.url))
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread'], {
      stdio: 'pipe',
    })
  } catch {
    remove()
    return undefined
  }
  const failing = join(state, 'failing')
  return {
    name: 'preloaded library',
    folder: root,
    env: { LD_PRELOAD: library, REVEILLE_DISK_ROOT: root, REVEILLE_DISK_STATE: state },
    fail: () => writeFileSync(failing, ''),
    heal: () => rmSync(failing, { force: true }),
    // It is done with the next write, by the process itself.
    evict: () => writeFileSync(join(state, 'evict'), ''),
    losePower() {
      for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
        const file = join(root, name)
        const found = statSync(file, { bigint: true })
        if (!found.isFile()) continue
        const states = join(state, `${found.ino}-${found.birthtimeNs}`)
        const durable = `${states}.data`
        if (existsSync(durable)) copyFileSync(durable, file)
        else truncateSync(file)
        rmSync(`${states}.map`, { force: true })
      }
    },
    remove,
  }
}
