/** Owns how a module that cannot be loaded, or lacks an export, is told. */

import { nearestName } from '../../config/nearest.ts'
import type { LoadFailure, OpenedModule } from '../port.ts'
import type { ModuleExports } from '../worker/protocol.ts'
import type { Loaded } from './module-worker.ts'

export function failuresOf(opened: OpenedModule, loaded: Loaded): readonly LoadFailure[] {
  const { module, place } = opened
  if (!loaded.ok) {
    const { error } = loaded
    const message = error.isSentence ? `${module} ${error.text}` : `${module} cannot be loaded: ${error.text}`
    return [{ module, message, place: error.place ?? place }]
  }
  const { others } = loaded.exports
  const functions = loaded.exports.functions.map(({ name }) => name)
  return opened.exports
    .filter((name) => !functions.includes(name))
    .map((exportName) => ({
      module,
      exportName,
      place,
      ...describeMissing(module, exportName, functions, others),
    }))
}

function describeMissing(
  module: string,
  name: string,
  functions: readonly string[],
  others: ModuleExports['others'],
) {
  const other = others.find((each) => each.name === name)
  if (other)
    return {
      message: `${module} exports ${other.type} as \`${name}\`, not a function`,
      hint: known(functions),
    }
  const nearest = nearestName(name, functions)
  const message =
    name === 'default' ? `${module} has no default export` : `${module} has no export \`${name}\``
  if (name === 'default' && functions.length === 0) {
    return { message, hint: 'Write `export default defineTransform(…)`.' }
  }
  const [only, second] = functions
  if (name === 'default' && only !== undefined && second === undefined) {
    const advice = `Write \`transform: { module: ${module}, export: ${only} }\`, or make it the default export.`
    return { message, hint: `${known(functions)} ${advice}` }
  }
  return {
    message,
    hint: nearest === undefined ? known(functions) : `Did you mean \`${nearest}\`? ${known(functions)}`,
  }
}

const mostNames = 20

function known(functions: readonly string[]): string {
  if (functions.length === 0) return 'It exports no function.'
  const names = functions.slice(0, mostNames).map((name) => `\`${name}\``)
  const more = functions.length - names.length
  return `It exports ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
