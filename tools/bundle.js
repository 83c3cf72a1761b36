/** Fills the folder `build`. Run as `node tools/bundle.js ROOT`. */

import { globSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { mark, stampFile } from '../runtime/bin/build.js'
import { bundle } from './bundler.js'
import { bundleConsole } from './console.js'
import { replaceFile } from './replace-file.js'

/** Files that the bundler does not list as inputs, and whose changes change the bundle. */
const silentInputs = [
  ...['tools/bundle.js', 'tools/bundler.js', 'tools/console.js', 'tools/replace-file.js'],
  ...['package-lock.json', 'tsconfig.json', 'plugins'],
]

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
const startedAt = Date.now()
const made = await Promise.all([
  bundle(root, {
    outdir: folder,
    sourcemap: 'linked',
    sourcesContent: false,
    entries: Object.fromEntries(
      Object.entries(pluginFiles).map(([source, file]) => [file.slice(0, -'.js'.length), source]),
    ),
  }),
  bundleConsole(root, path.join(folder, 'console')),
]).catch(() => undefined)

if (made === undefined) process.exitCode = 1
else {
  for (const { path: file, contents } of made.flatMap(({ outputFiles }) => outputFiles))
    replaceFile(file, contents)
  const inputs = new Set(made.flatMap((each) => each.inputs))
  replaceFile(stampFile(root), JSON.stringify({ marks: marksOf([...inputs]), pluginFiles }))
  removeOld(path.join(folder, 'cache'), () => true)
  removeOld(path.join(folder, 'console', 'assets'), () => true)
  removeOld(folder, (name) => name.startsWith('part-'))
}

function marksOf(inputs) {
  return Object.fromEntries(
    [...inputs, ...silentInputs].map((input) => [input, mark(path.join(root, input), startedAt)]),
  )
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
