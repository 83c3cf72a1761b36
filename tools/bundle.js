/**
 * Fills the folder `build`: the process entry and the worker entries, each as one flat file that starts fast. Run as
 * `node tools/bundle.js ROOT`.
 */

import { globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { mark, stampFile } from '../runtime/bin/build.js'

/** Files that the bundler does not list as inputs, and whose changes change the bundle. */
const silentInputs = ['tools/bundle.js', 'package-lock.json', 'tsconfig.json', 'plugins']

const [root = process.cwd()] = process.argv.slice(2)
const folder = path.join(root, 'build')
/** The file in `build` of each source of a plugin. */
const pluginFiles = Object.fromEntries(
  globSync('plugins/!(kit)/index.ts', { cwd: root }).map((source) => {
    const name = path.basename(path.dirname(source))
    return [source.replaceAll('\\', '/'), `plugin-${name}.js`]
  }),
)
const startedAt = Date.now()
const result = await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'runtime/main.ts',
    'sqlite-writer': 'runtime/store/sqlite/writer/sqlite-writer.ts',
    'sqlite-reader': 'runtime/store/sqlite/reader/sqlite-reader.ts',
    'transform-worker': 'engine/transform/worker/transform-worker.ts',
    'parse-thread': 'engine/config/file/parse-thread.ts',
    'evaluator-thread': 'engine/evaluator/evaluator-thread.ts',
    'builder-thread': 'engine/transform/bundle/builder-thread.ts',
    ...Object.fromEntries(Object.entries(pluginFiles).map(([source, file]) => [file.slice(0, -3), source])),
  },
  outdir: folder,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Plugins are found by name at run time, as a user's own are; see `servePlugins` in start.js.
  // The bundler of transforms is a program of its own. The others are rarely used, and every gateway would hold their text.
  external: ['@reveille/plugin-*', 'esbuild', 'open', 'prom-client'],
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
}).catch(() => undefined)

if (result === undefined) process.exitCode = 1
else {
  mkdirSync(folder, { recursive: true })
  for (const output of result.outputFiles) replaceFile(output.path, inAscii(output))
  replaceFile(stampFile(root), JSON.stringify({ marks: marksOf(result.metafile), pluginFiles }))
}

function marksOf(metafile) {
  // Packages change with the lock file only.
  const sources = Object.keys(metafile.inputs).filter((input) => !input.includes('node_modules/'))
  return Object.fromEntries(
    [...sources, ...silentInputs].map((input) => [input, mark(path.join(root, input), startedAt)]),
  )
}

/**
 * One letter outside ASCII, as in the name of an author, makes Node.js keep the whole source in two bytes a letter, which takes 9 MB of
 * the gateway. The bundler escapes such letters in strings, and leaves comments as they are. Each is replaced by one letter, so that the
 * source map holds; regular expressions of this project write `\u2026` themselves.
 */
function inAscii({ path: file, text, contents }) {
  if (!file.endsWith('.js')) return contents
  return text.replace(/^ *(?:\/[/*]|\*).*$/gm, (comment) => comment.replace(/[^\0-\x7f]/g, '?'))
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
