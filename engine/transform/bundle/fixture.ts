/** Bundles the transforms of a folder, for tests. */

import assert from 'node:assert/strict'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import { createSampleFolder } from '../../config/folder-fixture.ts'
import type { Bundle, Bundled, BundleRequest } from '../port.ts'
import { findExport } from '../worker/exports.ts'
import { createBundler } from './bundling.ts'

/**
 * Makes the folder of a configuration, with `transforms` and `data` in it.
 *
 * @param files content by path from the configuration's folder
 */
export async function createTransforms(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
) {
  const { path: folder, write: writeFile } = await createSampleFolder(t, files)
  // In this thread instead of one of its own, which takes as long to start as most tests.
  const bundling = createBundler()
  t.after(() => bundling.dispose())
  const place = { file: path.join(folder, 'reveille.yaml'), line: 7, column: 20, text: '' }

  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) await writeFile(name, content)
  }
  /** Of the folders `transforms` and of the configuration, unless others are given. */
  function bundle(...modules: readonly (string | Partial<BundleRequest>)[]): Promise<Bundled> {
    return bundling.bundle({
      transformsDir: path.join(folder, 'transforms'),
      folder,
      ...modules.find((each) => typeof each === 'object'),
      modules: modules.filter((each) => typeof each === 'string').map((module) => ({ module, place })),
      bundlesDir: path.join(folder, 'data', 'transforms'),
    })
  }
  /** Bundles one valid module. */
  async function bundleOne(module: string): Promise<Bundle> {
    const bundled = await bundle(module)
    assert.ok(bundled.ok, JSON.stringify(bundled, null, 2))
    return bundled.bundles.get(module) ?? assert.fail(`no bundle of ${module}`)
  }
  /** Bundles a module, imports it as a host does, and returns one of its functions. */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows what its function returns
  async function load(module: string, exportName = 'default'): Promise<(...args: readonly unknown[]) => any> {
    const { file } = await bundleOne(module)
    const found = findExport(await import(pathToFileURL(file).href), exportName)
    return found ?? assert.fail(`${module} has no ${exportName}`)
  }
  /** Returns the diagnostics of invalid modules, errors first. */
  async function diagnose(...modules: readonly string[]): Promise<readonly Diagnostic[]> {
    const bundled = await bundle(...modules)
    return bundled.ok ? assert.fail('nothing is wrong') : bundled.diagnostics
  }
  return { folder, write, bundle, bundleOne, load, diagnose }
}
