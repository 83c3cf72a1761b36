/**
 * Fills the folder `build`: the process entry and the worker entries, each as one flat file that starts fast. Run as
 * `node tools/bundle.js ROOT`.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { mark, stampFile } from './build.js'

const entries = [
  'runtime/main.ts',
  'runtime/store/sqlite/sqlite-writer.ts',
  'runtime/store/sqlite/sqlite-reader.ts',
]

/** Not named by the bundler, yet a change of one changes the bundle. */
const silentInputs = ['tools/bundle.js', 'package-lock.json', 'tsconfig.json']

const [root = process.cwd()] = process.argv.slice(2)
const folder = path.join(root, 'build')
const startedAt = Date.now()
const result = await build({
  absWorkingDir: root,
  entryPoints: entries,
  outdir: folder,
  entryNames: '[name]',
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Plugins are found by name at run time, as a user's own are.
  external: ['@reveille/plugin-*'],
  // Bundled CommonJS packages still ask for Node's own modules with `require`.
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
  },
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  write: false,
  logLevel: 'error',
}).catch(() => undefined)

if (result === undefined) process.exitCode = 1
else {
  mkdirSync(folder, { recursive: true })
  for (const output of result.outputFiles) replaceFile(output.path, output.contents)
  replaceFile(stampFile(root), JSON.stringify(marksOf(result.metafile)))
}

function marksOf(metafile) {
  // Packages change with the lock file only.
  const sources = Object.keys(metafile.inputs).filter((input) => !input.includes('node_modules/'))
  return Object.fromEntries(
    [...sources, ...silentInputs].map((input) => [input, mark(path.join(root, input), startedAt)]),
  )
}

/** A running gateway, or a build beside this one, sees the old file or the new one. */
function replaceFile(file, content) {
  const next = `${file}.${process.pid}.next`
  try {
    writeFileSync(next, content)
    renameSync(next, file)
  } finally {
    rmSync(next, { force: true })
  }
}
