/**
 * Fills the folder `build`: the process entry with what it loads when needed, and the entries of workers and plugins, each as one file. Run as
 * `node tools/bundle.js ROOT`.
 */

import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { mark, stampFile } from '../runtime/bin/build.js'
import { bundlerPlugins } from './bundler-plugins.js'

/** Files that the bundler does not list as inputs, and whose changes change the bundle. */
const silentInputs = ['tools/bundle.js', 'package-lock.json', 'tsconfig.json', 'plugins']

/** A gateway that runs may still load what an earlier build has split off. Milliseconds. */
const keepMs = 24 * 60 * 60 * 1000

const [root = process.cwd()] = process.argv.slice(2)
const folder = path.join(root, 'build')
/** The file in `build` of each source of a plugin. */
const pluginFiles = Object.fromEntries(
  globSync('plugins/!(kit)/index.ts', { cwd: root }).map((source) => {
    const name = path.basename(path.dirname(source))
    return [source.replaceAll('\\', '/'), `plugin-${name}.js`]
  }),
)
const { plugins, inputs } = bundlerPlugins(root)
const options = {
  absWorkingDir: root,
  plugins,
  outdir: folder,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Names stay, because people read them in stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  // Plugins are found by name at run time, as a user's own are; see `servePlugins` in start.js.
  // The bundler of transforms is a program of its own. The others are rarely used, and every gateway would hold their text.
  external: [
    ...['@reveille/plugin-*', 'esbuild', 'open', 'prom-client'],
    ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
  ],
  // Bundled CommonJS packages still ask for Node's own modules with `require`.
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
  },
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'external',
  metafile: true,
  write: false,
  logLevel: 'error',
}
const startedAt = Date.now()
const results = await Promise.all([
  // Each command loads its own part alone.
  build({
    ...options,
    entryPoints: { main: 'runtime/main.ts' },
    splitting: true,
    chunkNames: 'part-[hash]',
  }),
  build({
    ...options,
    entryPoints: {
      'sqlite-writer': 'runtime/store/sqlite/writer/sqlite-writer.ts',
      'sqlite-reader': 'runtime/store/sqlite/reader/sqlite-reader.ts',
      'transform-worker': 'engine/transform/worker/transform-worker.ts',
      'parse-thread': 'engine/config/file/parse-thread.ts',
      'evaluator-thread': 'engine/evaluator/evaluator-thread.ts',
      'builder-thread': 'engine/transform/bundle/builder-thread.ts',
      ...Object.fromEntries(
        Object.entries(pluginFiles).map(([source, file]) => [file.slice(0, -'.js'.length), source]),
      ),
    },
  }),
]).catch(() => undefined)

if (results === undefined) process.exitCode = 1
else {
  mkdirSync(folder, { recursive: true })
  const outputs = results.flatMap(({ outputFiles }) => outputFiles)
  for (const { path: file, contents } of outputs) replaceFile(file, contents)
  replaceFile(stampFile(root), JSON.stringify({ marks: marksOf(results), pluginFiles }))
  removeOld(path.join(folder, 'cache'), () => true)
  removeOld(folder, (name) => name.startsWith('part-'))
}

function marksOf(made) {
  // Packages change with the lock file only.
  const sources = made.flatMap(({ metafile }) =>
    Object.keys(metafile.inputs).filter((input) => !/node_modules\/|^builtin:/.test(input)),
  )
  return Object.fromEntries(
    [...sources, ...silentInputs, ...inputs].map((input) => [input, mark(path.join(root, input), startedAt)]),
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

/** Removes what no build or run has written for a while: each change of a source makes new names. */
function removeOld(below, isOurs) {
  let names = []
  try {
    names = readdirSync(below, { recursive: below !== folder }).filter(isOurs)
  } catch {
    // There is no such folder yet.
  }
  for (const name of names) {
    const file = path.join(below, name)
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats?.isFile() && stats.mtimeMs < startedAt - keepMs) rmSync(file, { force: true })
  }
}
