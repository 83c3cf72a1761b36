/** Bundles modules in a thread, which starts with the first request and ends when it has been idle for a while. */

import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { createSerialThread } from '../../threads/serial-thread.ts'
import { programFile } from '../../threads/thread.ts'
import type { Bundled, BundleRequest, Bundler } from '../port.ts'
import type { FromThread, ToThread } from './bundler-thread.ts'

export interface BundlerOptions {
  /** The absolute path of the folder for bundles, which is created when it is needed. */
  readonly folder: string
  /** The thread and its process end after this long without a request. Milliseconds. Default: 60,000. */
  readonly idleMs?: number
}

/** An older unfinished file was left by a process that died. Milliseconds. */
const maxWriteMs = 600_000

export function createBundler({ folder, idleMs = 60_000 }: BundlerOptions): Bundler {
  const thread = createSerialThread<ToThread, FromThread>({
    program: programFile('./bundler-thread.ts', import.meta.url),
    name: 'bundler',
    idleMs,
    // The thread also ends esbuild's process, which would outlive a terminated thread.
    closeMessage: 'end' satisfies ToThread,
  })
  /** The digests of the last request. */
  let latest: readonly string[] = []

  return {
    async bundle(request) {
      if (request.modules.length === 0) return { ok: true, bundles: new Map(), watched: [], warnings: [] }
      const answer = await thread.ask({ ...request, bundlesDir: folder }).catch((error: Error) => error)
      if (answer instanceof Error) return notBundled(request, answer)
      if (answer.ok) latest = [...answer.bundles.values()].map(({ digest }) => digest)
      return answer
    },
    async sweep(keep) {
      const digests = new Set([...keep, ...latest])
      for (const name of await namesIn(folder)) {
        const file = path.join(folder, name)
        const [digest] = /^[0-9a-f]{64}(?=\.mjs(?:\.map)?$)/.exec(name) ?? []
        const isUnused = digest !== undefined && !digests.has(digest)
        if (isUnused || (name.endsWith('.next') && (await isLeftOver(file)))) await rm(file, { force: true })
      }
    },
    close: () => thread.close(),
  }
}

/** Reports a failure that is not the author's fault. */
function notBundled({ modules, transformsDir }: BundleRequest, error: Error): Bundled {
  return {
    ok: false,
    diagnostics: modules.map(({ module, place }) => ({
      severity: 'error',
      code: 'TRANSFORM_NOT_BUNDLED',
      message: `the transform \`${module}\` could not be bundled: ${error.message}`,
      place,
      hint: 'It is not the transform that is at fault: see that esbuild is installed and the data folder has room.',
    })),
    watched: modules.map(({ module }) => path.join(transformsDir, module)),
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    // There are no bundles yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function isLeftOver(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > maxWriteMs
}
