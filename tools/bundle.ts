/** Bundles the command `reveille` as it is published. Libraries stay packages of their own, which users update. */

import { type BuildResult, build, type OutputFile, type Plugin } from 'esbuild'
import { replaceFile } from './replace-file.js'

/** The programs of threads, which a bundle finds beside itself. */
const threads = {
  'sqlite-writer': 'runtime/store/sqlite/sqlite-writer.ts',
  'sqlite-reader': 'runtime/store/sqlite/sqlite-reader.ts',
  'transform-worker': 'engine/transform/worker/transform-worker.ts',
  'bundler-thread': 'engine/transform/bundle/bundler-thread.ts',
  'parse-thread': 'engine/config/file/parse-thread.ts',
  'evaluator-thread': 'engine/evaluator/evaluator-thread.ts',
}

interface Bundled {
  readonly outputFiles: readonly OutputFile[]
  /** The sources, relative to the root. */
  readonly inputs: readonly string[]
}

/** `entries`: other programs than the command, by the name of their file. */
export async function bundle(
  root: string,
  outdir: string,
  entries: Readonly<Record<string, string>> = { main: 'runtime/main.ts' },
): Promise<Bundled> {
  const result: BuildResult<{ metafile: true; write: false }> = await build({
    absWorkingDir: root,
    entryPoints: { ...threads, ...entries },
    outdir,
    bundle: true,
    // A command loads its own part alone.
    splitting: true,
    chunkNames: 'part-[hash]',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Names stay, because people read them in stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'external',
    plugins: [separateLibraries],
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  const inputs = Object.keys(result.metafile.inputs).filter((input) => !input.includes('node_modules/'))
  return { outputFiles: result.outputFiles, inputs }
}

const ours = /^@reveille\/(engine|kit)(\/|$)/

const separateLibraries: Plugin = {
  name: 'separate-libraries',
  setup({ onResolve }) {
    onResolve({ filter: /^[a-z@]/ }, ({ path: name, kind }) =>
      kind === 'entry-point' || ours.test(name) ? undefined : { path: name, external: true },
    )
  },
}

/** Writes a bundle for tests into a folder within the root, where its libraries are found. */
export async function writeBundle(
  root: string,
  folder: string,
  entries?: Readonly<Record<string, string>>,
): Promise<void> {
  const { outputFiles } = await bundle(root, folder, entries)
  for (const { path: file, contents } of outputFiles) replaceFile(file, contents)
}
