/** Bundles the transforms of a folder, for tests. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import type { Bundle, Bundled, BundleRequest } from '../port.ts'
import { findExport } from '../worker/exports.ts'
import { createBundler } from './bundling.ts'

export interface Transforms {
  /** The configuration's folder, which holds `transforms` and `data`. */
  readonly folder: string
  write(files: Readonly<Record<string, string>>): Promise<void>
  /** Of the folders `transforms` and of the configuration, unless others are given. */
  bundle(...modules: readonly (string | Partial<BundleRequest>)[]): Promise<Bundled>
  /** Bundles one valid module. */
  bundleOne(module: string): Promise<Bundle>
  /** Bundles a module, imports it as a host does, and returns one of its functions. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows what its function returns
  load(module: string, exportName?: string): Promise<(...args: readonly unknown[]) => any>
  /** Returns the diagnostics of invalid modules, errors first. */
  diagnose(...modules: readonly string[]): Promise<readonly Diagnostic[]>
}

/** @param files content by path from the configuration's folder */
export async function createTransforms(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
): Promise<Transforms> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille transforms-')))
  // In this thread instead of one of its own, which takes as long to start as most tests.
  const bundling = createBundler()
  t.after(async () => {
    await bundling.dispose()
    await rm(folder, { recursive: true, force: true })
  })
  const place = { file: path.join(folder, 'reveille.yaml'), line: 7, column: 20, text: '' }

  const transforms: Transforms = {
    folder,
    async write(files) {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
        await writeFile(path.join(folder, name), content)
      }
    },
    bundle: (...modules) =>
      bundling.bundle({
        transformsDir: path.join(folder, 'transforms'),
        folder,
        ...modules.find((each) => typeof each === 'object'),
        modules: modules.filter((each) => typeof each === 'string').map((module) => ({ module, place })),
        bundlesDir: path.join(folder, 'data', 'transforms'),
      }),
    async bundleOne(module) {
      const bundled = await transforms.bundle(module)
      assert.ok(bundled.ok, JSON.stringify(bundled, null, 2))
      return bundled.bundles.get(module) ?? assert.fail(`no bundle of ${module}`)
    },
    async load(module, exportName = 'default') {
      const { file } = await transforms.bundleOne(module)
      const found = findExport(await import(pathToFileURL(file).href), exportName)
      return found ?? assert.fail(`${module} has no ${exportName}`)
    },
    async diagnose(...modules) {
      const bundled = await transforms.bundle(...modules)
      return bundled.ok ? assert.fail('nothing is wrong') : bundled.diagnostics
    },
  }
  await transforms.write(files)
  return transforms
}
