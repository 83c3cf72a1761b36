/** Holds what a phone has to load before it shows what arrives. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleConsole } from '../../tools/console.js'

const root = join(import.meta.dirname, '..', '..')
const kilobyte = 1024
/** Maximum size of Live and Request: the frame with both, and all styles. */
const maxForLive = 60 * kilobyte
/** The largest part that any page adds, which is the editor. */
const maxForOnePage = 190 * kilobyte

test('the frame with Live and Request is at most 60 KB, and no page adds more than 190 KB', async (t) => {
  const { outputFiles, metafile } = await bundleConsole(root, join(root, 'build', 'console'))
  const sizes = new Map(
    outputFiles.map(({ path, contents }) => [
      path.slice(root.length + 1),
      gzipSync(contents, { level: 9 }).byteLength,
    ]),
  )
  const { outputs } = metafile
  const sizeOf = (files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0)
  const reached = (file: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(file)) return seen
    seen.add(file)
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement') reached(path, seen)
    const { cssBundle } = outputs[file] ?? {}
    if (cssBundle !== undefined) seen.add(cssBundle)
    return seen
  }
  const main = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === 'console/main.tsx') ?? ''
  const first = reached(main)
  t.diagnostic(`Live and Request: ${(sizeOf(first) / kilobyte).toFixed(1)} KB compressed`)
  assert.ok(sizeOf(first) > 0 && sizeOf(first) <= maxForLive, `${sizeOf(first)} bytes`)
  assert.ok(
    ![...first].some((file) =>
      Object.keys(outputs[file]?.inputs ?? {}).some((input) => /codemirror|@lezer/.test(input)),
    ),
    'the editor is loaded when it is needed',
  )
  for (const file of Object.keys(outputs)) {
    const { entryPoint } = outputs[file] ?? {}
    if (entryPoint === undefined || file === main || !file.endsWith('.js')) continue
    const added = [...reached(file)].filter((each) => !first.has(each))
    t.diagnostic(`${entryPoint}: ${(sizeOf(added) / kilobyte).toFixed(1)} KB more`)
    assert.ok(sizeOf(added) <= maxForOnePage, `${entryPoint} adds ${sizeOf(added)} bytes`)
  }
})
