/** What the bundler does to sources besides bundling them. */

import { readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * @param {string} root
 * @returns {{ plugins: import('esbuild').Plugin[], inputs: string[] }} `inputs`: files that went into generated modules, relative to the
 *   root; complete after the build
 */
export function bundlerPlugins(root) {
  const inputs = ['tools/bundler-plugins.js']
  return { plugins: [generatedValidators(root, inputs), directImports(root), lazyBuiltins()], inputs }
}

/** Puts generated validators in the place of the modules that compile them; see `validators.ts`. */
function generatedValidators(root, inputs) {
  const filter = /[\\/](schema[\\/]validators|configuration[\\/]known-validators)\.ts$/
  return {
    name: 'generated-validators',
    setup({ onLoad }) {
      onLoad({ filter }, async ({ path: file }) => {
        const { ownValidators, pluginSchemas, pluginValidators } = await import('./validators.ts')
        const isOwn = path.basename(file) === 'validators.ts'
        const from = isOwn ? ['engine/config/schema/create-ajv.ts'] : pluginSchemas(root)
        inputs.push('tools/validators.ts', ...from)
        const contents = isOwn ? ownValidators() : pluginValidators(root)
        return { contents, resolveDir: path.dirname(file), loader: 'js' }
      })
    },
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

/**
 * Gives Node's own modules as `require` does. An import of `node:http` reads all that the module exports, and with that loads what implements
 * WebSockets and `fetch`: 60 ms of processor time and 12 MB for nothing.
 */
function lazyBuiltins() {
  return {
    name: 'lazy-builtins',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
        kind === 'import-statement' ? { path: name, namespace: 'builtin' } : undefined,
      )
      onLoad({ filter: /^node:/, namespace: 'builtin' }, ({ path: name }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)})`,
        loader: 'js',
      }))
    },
  }
}
