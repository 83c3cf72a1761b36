/**
 * Bundles the process entry with what it loads when needed, and the entries of workers, each as one file.
 */

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { replaceFile } from './replace-file.js'

/** The programs of threads that need nothing beside them. */
const threads = {
  'sqlite-writer': 'runtime/store/sqlite/sqlite-writer.ts',
  'sqlite-reader': 'runtime/store/sqlite/sqlite-reader.ts',
  'transform-worker': 'engine/transform/worker/transform-worker.ts',
  'parse-thread': 'engine/config/file/parse-thread.ts',
  'evaluator-thread': 'engine/evaluator/evaluator-thread.ts',
}

/**
 * Where bundles are published, the libraries stay packages of their own, which users update and whose licences come with them.
 *
 * @typedef {{ outdir: string, entries?: Record<string, string>, isPublished?: boolean }} Given `entries`: more of them, each to be one file
 * @param {string} root
 * @param {Given & import('esbuild').BuildOptions} given
 * @returns {Promise<{ outputFiles: import('esbuild').OutputFile[], inputs: string[] }>} `inputs`: the sources, relative to the root
 */
export async function bundle(root, { entries = {}, isPublished = false, ...given }) {
  const options = optionsFor(root, given)
  if (isPublished) options.plugins.push(separateLibraries())

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
        ...threads,
        'bundler-thread': 'engine/transform/bundle/bundler-thread.ts',
        ...entries,
      },
    }),
  ])
  // Packages change with the lock file only.
  const sources = results.flatMap(({ metafile }) =>
    Object.keys(metafile.inputs).filter((input) => !/node_modules\/|^builtin:/.test(input)),
  )
  return {
    outputFiles: results.flatMap(({ outputFiles }) => outputFiles),
    inputs: [...new Set(sources)],
  }
}

/**
 * Writes these programs alone, for tests that run from the sources.
 *
 * @param {string} root
 * @param {string} folder
 */
export async function writeThreads(root, folder) {
  const { outputFiles } = await build({ ...optionsFor(root, { outdir: folder }), entryPoints: threads })
  for (const { path: file, contents } of outputFiles) replaceFile(file, contents)
}

/**
 * Writes programs that a test starts as processes again and again, with those of threads beside them.
 *
 * @param {string} root
 * @param {string} folder within the root, where the libraries are found that stay outside
 * @param {Record<string, string>} programs by the name of the file that is written
 */
export async function writePrograms(root, folder, programs) {
  const options = () => optionsFor(root, { outdir: folder })
  const results = await Promise.all([
    build({ ...options(), entryPoints: programs, splitting: true, chunkNames: 'part-[hash]' }),
    build({ ...options(), entryPoints: threads }),
  ])
  for (const { path: file, contents } of results.flatMap(({ outputFiles }) => outputFiles))
    replaceFile(file, contents)
}

function optionsFor(root, given) {
  return {
    absWorkingDir: root,
    plugins: [directImports(root), lazyBuiltins()],
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Names stay, because people read them in stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    // Plugins are found by name at run time, as a user's own are; see `servePlugins` in runtime/bin/build.js.
    // The bundler of transforms is a program of its own. The others are rarely used, and every gateway would hold their text.
    external: [
      ...['@reveille/plugin-*', 'esbuild', 'open', 'prom-client', 'tsx'],
      ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
    ],
    // Bundled CommonJS packages still ask for Node's own modules with `require`.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    legalComments: 'external',
    metafile: true,
    write: false,
    logLevel: 'error',
    ...given,
  }
}

/**
 * Makes the runtime import what it needs of the engine from the files that define it. The bundler takes a file for needed with all
 * that it names, so that each command would load the whole engine for the sake of its index.
 */
function directImports(root) {
  const index = path.join(root, 'engine', 'index.ts')
  let places
  return {
    name: 'direct-imports',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]runtime[\\/].*\.ts$/ }, ({ path: file }) => {
        const text = readFileSync(file, 'utf8')
        if (!text.includes("'@reveille/engine'")) return undefined
        places ??= placesIn(readFileSync(index, 'utf8'), path.dirname(index))
        return { contents: withDirectImports(text, places), loader: 'ts' }
      })
    },
  }
}

const importing = /^import \{([^}]*)\} from '@reveille\/engine'/gm
const exporting = /^export \{([^}]*)\} from '(\.[^']+)'/gm

/** @returns {Map<string, string>} the absolute file of each name that an index exports and that is no type */
export function placesIn(text, folder) {
  return new Map(
    [...text.matchAll(exporting)].flatMap(([, names, from]) =>
      valuesIn(names).map((name) => [name, path.join(folder, from)]),
    ),
  )
}

/** Lines keep their numbers. */
export function withDirectImports(text, places) {
  return text.replace(importing, (whole, names) => {
    const single = valuesIn(names).map((name) => {
      const place = places.get(name)
      if (place === undefined) throw new Error(`engine/index.ts exports no ${name} by its own name`)
      return `import { ${name} } from ${JSON.stringify(place)}`
    })
    return single.join('; ') + whole.replace(/[^\n]/g, '')
  })
}

function valuesIn(names) {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
}

/** Modules of Node.js that a gateway needs seldom or never, though it names them. Fastify names `http2`, which alone takes 8 MB. */
const seldom = new Set(['http2', 'https', 'child_process', 'inspector', 'readline', 'vm'])

/**
 * Gives Node's own modules as `require` does, and those of `seldom` when something of them is used. An import of `node:http` reads all that the
 * module exports, and with that loads what implements WebSockets and `fetch`: 60 ms of processor time and 12 MB for nothing.
 */
function lazyBuiltins() {
  return {
    name: 'lazy-builtins',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
        kind === 'import-statement' || (kind === 'require-call' && seldom.has(name.slice('node:'.length)))
          ? { path: name, namespace: 'builtin' }
          : undefined,
      )
      onLoad({ filter: /^node:/, namespace: 'builtin' }, ({ path: name }) => {
        const module = `process.getBuiltinModule(${JSON.stringify(name)})`
        // The bundler looks names up in the prototype too, and copies none of a Proxy.
        const late = `Object.create(new Proxy({}, { get: (_, key) => key === '__esModule' ? undefined : ${module}[key] }))`
        const contents = `module.exports = ${seldom.has(name.slice('node:'.length)) ? late : module}`
        return { contents, loader: 'js' }
      })
    },
  }
}

function separateLibraries() {
  const ours = /^(node:|@reveille\/(engine|kit)(\/|$))/
  return {
    name: 'separate-libraries',
    setup({ onResolve }) {
      onResolve({ filter: /^[a-z@]/ }, ({ path: name, kind }) =>
        kind === 'entry-point' || ours.test(name) ? undefined : { path: name, external: true },
      )
    },
  }
}
