/**
 * Owns the folder `build`: the process entry and the worker entries, each as one flat file that starts fast. Plain
 * JavaScript, because `npm start` passes here each time and the type stripper would cost it memory.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const entries = [
  'runtime/main.ts',
  'runtime/store/sqlite/sqlite-writer.ts',
  'runtime/store/sqlite/sqlite-reader.ts',
]

/** Not named by the bundler, yet a change of one changes the bundle. */
const silentInputs = ['tools/build.js', 'package-lock.json', 'tsconfig.json']

/**
 * Builds only when a file that went into the last build has changed.
 *
 * @param {string} root
 * @returns {Promise<{ file: string, built: boolean }>} the entry to run
 */
export async function ensureBuilt(root) {
  const folder = path.join(root, 'build')
  const stamp = path.join(folder, 'stamp.json')
  const file = path.join(folder, 'main.js')
  if (isFresh(root, stamp)) return { file, built: false }

  const startedAt = Date.now()
  const inputs = await bundle(root, folder)
  const marks = Object.fromEntries(
    // A file saved while the bundler ran may have been read before: its mark matches nothing.
    inputs.map((input) => [input, mark(path.join(root, input), startedAt)]),
  )
  replaceFile(stamp, JSON.stringify(marks))
  return { file, built: true }
}

/** @returns {Promise<string[]>} what went in, relative to `root` */
async function bundle(root, folder) {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
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
  })
  mkdirSync(folder, { recursive: true })
  for (const output of outputFiles) replaceFile(output.path, output.contents)
  // Packages change with the lock file only.
  const sources = Object.keys(metafile.inputs).filter((input) => !input.includes('node_modules/'))
  return [...sources, ...silentInputs]
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

function isFresh(root, stamp) {
  try {
    const marks = JSON.parse(readFileSync(stamp, 'utf8'))
    return Object.entries(marks).every(([input, known]) => mark(path.join(root, input)) === known)
  } catch {
    return false
  }
}

function mark(file, before = Number.POSITIVE_INFINITY) {
  const { size, mtimeMs } = statSync(file)
  return mtimeMs < before ? `${size}:${mtimeMs}` : ''
}
