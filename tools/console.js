/** Bundles the operators' console: what a browser loads, below names that change with the content. */

import { globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, context, stop } from 'esbuild'
import { replaceFile } from './replace-file.js'

const entry = 'console/main.tsx'
const icon = 'console/icon.svg'
const page = 'console/index.html'

/**
 * Bundles without writing. Pages are parts of their own, so that a phone that shows what arrives never loads an editor. Beside each asset
 * lies the same compressed, because a gateway should not compress for each reader.
 *
 * @param {string} root
 * @param {string} folder where the files are to be; absolute
 * @returns {Promise<{ outputFiles: { path: string, contents: string | Uint8Array }[], inputs: string[], metafile: import('esbuild').Metafile }>}
 */
export async function bundleConsole(root, folder) {
  return filesOf(root, folder, await build(optionsFor(root, folder)))
}

/** @returns {import('esbuild').BuildOptions & { metafile: true, write: false }} */
function optionsFor(root, folder) {
  return {
    absWorkingDir: root,
    entryPoints: { main: entry, icon },
    outdir: folder,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    loader: { '.svg': 'copy' },
    tsconfig: 'console/tsconfig.json',
    bundle: true,
    splitting: true,
    platform: 'browser',
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    minify: true,
    // Licences are in a file of their own.
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'error',
  }
}

/** Puts together what is served: the bundle, the same compressed, the licences, and the page. */
function filesOf(root, folder, { outputFiles, metafile }) {
  const assets = outputFiles.flatMap(({ path: file, contents }) => [
    { path: file, contents },
    { path: `${file}.gz`, contents: gzipSync(contents, { level: 9 }) },
  ])
  const inputs = Object.keys(metafile.inputs)
  return {
    outputFiles: [
      ...assets,
      { path: path.join(folder, 'licences.txt'), contents: licencesOf(root, inputs) },
      {
        path: path.join(folder, 'index.html'),
        contents: fillPage(readFileSync(path.join(root, page), 'utf8'), metafile),
      },
    ],
    inputs: [...inputs.filter((input) => !input.includes('node_modules/')), page, 'console/tsconfig.json'],
    metafile,
  }
}

/**
 * Writes the console into `build/console`, for a gateway that runs from the sources, where one of its sources is newer.
 *
 * @param {string} root
 */
export async function ensureConsole(root) {
  const folder = path.join(root, 'build', 'console')
  const sources = globSync(['console/**/*.*', 'package-lock.json'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })
  const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const newest = Math.max(...sources.map((source) => changedAt(path.join(root, source))))
  if (changedAt(path.join(folder, 'index.html')) > newest) return
  write(await bundleConsole(root, folder))
  // Its process would stay with the gateway.
  await stop()
}

/**
 * Writes the console into `build/console`, for a gateway that runs from the sources, and again whenever one of its sources changes. What is
 * broken is printed, and the last good one stays. Resolves once the first is written.
 *
 * @param {string} root
 * @param {() => void} [onWritten]
 * @returns {Promise<import('esbuild').BuildContext>} to be disposed of
 */
export async function watchConsole(root, onWritten) {
  const folder = path.join(root, 'build', 'console')
  const plugin = {
    name: 'write',
    setup({ onLoad, onEnd }) {
      // No module names the page.
      onLoad({ filter: /[\\/]main\.tsx$/ }, ({ path: file }) => ({
        contents: readFileSync(file),
        loader: 'tsx',
        watchFiles: [path.join(root, page)],
      }))
      onEnd((result) => {
        if (result.errors.length > 0) return
        write(filesOf(root, folder, result))
        onWritten?.()
      })
    },
  }
  const watched = await context({ ...optionsFor(root, folder), plugins: [plugin] })
  await watched.rebuild()
  await watched.watch()
  return watched
}

/** The page comes last, as it names the others. */
function write(made) {
  for (const { path: file, contents } of made.outputFiles) replaceFile(file, contents)
  return made
}

function fillPage(html, { outputs }) {
  const name = (file) => path.posix.basename(file)
  const find = (input) =>
    Object.entries(outputs).find(([, { entryPoint, inputs }]) => entryPoint === input || inputs[input])
  const [script, { cssBundle }] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry)
  const [picture] = find(icon)
  return html
    .replace('__SCRIPT__', name(script))
    .replace('__STYLE__', name(cssBundle))
    .replace('__ICON__', name(picture))
}

/** The licences of what is bundled have to go along with it. */
function licencesOf(root, inputs) {
  const packages = new Set(
    inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  )
  const texts = [...packages].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'))
    const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: path.join(root, folder) })
    if (file === undefined)
      throw new Error(`${folder} has no licence, so the console cannot be published with it.`)
    return `${name} ${version}\n\n${readFileSync(path.join(root, folder, file), 'utf8').trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
