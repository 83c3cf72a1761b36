/** Bundles the transforms of a folder, and counts the builds, for tests. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import type { Bundle, Bundled, Bundler, WantedModule } from '../port.ts'
import type { Builder } from './builder.ts'
import { createBundler } from './create-bundler.ts'
import { buildModule } from './module-build.ts'

// biome-ignore lint/suspicious/noExplicitAny: the test knows what its bundle exports
type Namespace = Record<string, any>

export interface Transforms {
  /** The configuration's folder, which holds `transforms` and `data`. */
  readonly folder: string
  readonly bundler: Bundler
  /** The names of the modules that were built so far, in order. */
  readonly built: string[]
  write(files: Readonly<Record<string, string>>): Promise<void>
  bundle(...modules: readonly (string | Partial<WantedModule>)[]): Promise<Bundled>
  /** Bundles one valid module. */
  bundleOne(module: string, exports?: readonly string[]): Promise<Bundle>
  /** Imports the bundle as a host does. */
  load(module: string, exports?: readonly string[]): Promise<Namespace>
  /** Returns the diagnostics of invalid modules, errors first. */
  diagnose(...modules: readonly string[]): Promise<readonly Diagnostic[]>
  /** Opens the same folder after a restart. */
  restart(builder?: Builder): Transforms
}

/** A time after all files of a test were written, so that their stamps are certain. */
const later = () => Date.now() + 10_000

const limits = { timeoutMs: 5_000, memoryMb: 128, concurrency: 4 }

/** @param files content by path from the configuration's folder */
export async function createTransforms(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
  builder?: Builder,
  now = later,
): Promise<Transforms> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille transforms-')))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const transforms = open(folder, builder, now)
  await transforms.write(files)
  return transforms
}

/** Builds in this thread instead of starting another one. */
function buildHere(built: string[]): Builder {
  return {
    build(request) {
      built.push(request.module)
      return buildModule(request)
    },
    close: async () => {},
  }
}

function open(folder: string, builder?: Builder, now = later): Transforms {
  const built: string[] = []
  const bundler = createBundler({
    folder: path.join(folder, 'data', 'transforms'),
    builder: builder ?? buildHere(built),
    now,
  })
  const place = { file: path.join(folder, 'reveille.yaml'), line: 7, column: 20, text: '' }

  const transforms: Transforms = {
    folder,
    bundler,
    built,
    async write(files) {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
        await writeFile(path.join(folder, name), content)
      }
    },
    bundle: (...modules) =>
      bundler.bundle({
        modules: modules.map((module) => ({
          module: '',
          exports: ['default'],
          place,
          limits,
          ...(typeof module === 'string' ? { module } : module),
        })),
        transformsDir: path.join(folder, 'transforms'),
        folder,
      }),
    async bundleOne(module, exports = ['default']) {
      const bundled = await transforms.bundle({ module, exports })
      assert.ok(bundled.ok, JSON.stringify(bundled, null, 2))
      return bundled.bundles.get(module) ?? assert.fail(`no bundle of ${module}`)
    },
    async load(module, exports) {
      const { file } = await transforms.bundleOne(module, exports)
      return import(pathToFileURL(file).href)
    },
    async diagnose(...modules) {
      const bundled = await transforms.bundle(...modules)
      return bundled.ok ? assert.fail('nothing is wrong') : bundled.diagnostics
    },
    restart: (another) => open(folder, another, now),
  }
  return transforms
}

/** A builder that fails the test if it is called. */
export const noBuilder: Builder = {
  build: ({ module }) => Promise.reject(new Error(`${module} was bundled`)),
  close: async () => {},
}
